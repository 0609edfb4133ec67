"""The block at the top of a seed that says where it came from."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eqfuzz.program.formats import recognise
from eqfuzz.program.program import InvalidSeed
from eqfuzz.program.provenance import InvalidProvenance, Provenance, provenance_of

BODY = "def program(x):\n    return x + 1\n\n\ndef inputs(rng):\n    yield (rng.normal(3),)\n"

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
details = st.dictionaries(
    st.from_regex(r"[a-z_]{1,8}", fullmatch=True).filter(lambda key: key not in ("source", "configs")),
    words | st.booleans() | st.integers(-(2**40), 2**40) | st.floats(allow_nan=False, allow_infinity=False),
    max_size=4,
)


configs = st.lists(st.from_regex(r"[a-z_-]{1,8}(@[2-9])?", fullmatch=True), max_size=3).map(tuple)


@given(words, details, configs)
def test_a_header_reads_back_as_it_was_written(
    source: str, more: dict[str, str | int | float | bool], names: tuple[str, ...]
) -> None:
    written = Provenance(source, more, names)
    assert provenance_of(written.header() + BODY) == written


def test_a_file_without_the_block_is_trusted() -> None:
    assert provenance_of(BODY) is None
    assert not recognise(BODY, "own.py").untrusted


def test_seed_of_a_model_is_untrusted() -> None:
    assert recognise(Provenance("llm", {"model": "m"}).header() + BODY, "a.py").untrusted
    assert not recognise(Provenance("person").header() + BODY, "a.py").untrusted


def test_a_second_block_does_not_count() -> None:
    text = Provenance("llm").header() + Provenance("person").header() + BODY
    assert recognise(text, "a.py").untrusted


@pytest.mark.parametrize("block", ["# source = llm\n", "# model = 'm'\n", "#\n"])
def test_block_without_source_is_an_invalid_seed(block: str) -> None:
    text = f"# /// eqfuzz\n{block}# ///\n{BODY}"
    with pytest.raises(InvalidProvenance):
        provenance_of(text)
    with pytest.raises(InvalidSeed, match=r"a\.py:1: the block `# /// eqfuzz`"):
        recognise(text, "a.py")


def test_seed_names_its_configurations() -> None:
    text = Provenance("template", configs=("inductor", "inductor-dynamic")).header() + BODY
    program = recognise(text, "a.py")
    assert program.configs == ("inductor", "inductor-dynamic")
    assert type(program).from_json(json.loads(json.dumps(program.to_json()))) == program
    assert recognise(BODY, "a.py").configs == ()
    with pytest.raises(InvalidSeed, match="has no text as configs"):
        recognise('# /// eqfuzz\n# source = "x"\n# configs = 3\n# ///\n' + BODY, "a.py")


def test_variants_of_untrusted_code_are_untrusted() -> None:
    program = recognise(Provenance("llm").header() + BODY, "a.py")
    assert program.with_source(BODY).untrusted
    assert type(program).from_json(program.to_json()) == program.with_source(program.source)
