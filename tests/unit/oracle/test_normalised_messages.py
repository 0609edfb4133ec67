"""Normalised messages are equal for programs with the same failure."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eqfuzz.oracle.observe.normalised_messages import normalised


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ("call 7 (model.train(False)): it\n  raises", "it raises"),
        ("doesn't take 'x' but won't say", "doesn't take '…' but won't say"),
        ('got "it\'s" for `n`', 'got "…" for `…`'),
        ("-3.5e-07 of 0x7ffe12, float32", "N of N, floatN"),
    ],
)
def test_program_specific_parts_are_removed(message, text):
    assert normalised(message) == text


PIECES = st.sampled_from(
    ["call 0: ", "call 1 (a): ", "'", '"', "`", "-3", "0x1f", "a", " ", "1.5e-3", "_1", "_default", "\n", "…", "٣"]
)


@given(st.one_of(st.text(max_size=150), st.lists(PIECES, max_size=25).map("".join)))
def test_normalising_again_changes_nothing_and_leaves_no_digit(message):
    once = normalised(message)
    assert normalised(once) == once
    assert not any(character.isdecimal() for character in once)
    assert len(once) <= 200
    assert len(once.splitlines()) <= 1
