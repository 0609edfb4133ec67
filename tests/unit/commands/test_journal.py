"""Journals: what was added is there for the next call, whatever ended the last."""

from __future__ import annotations

import pytest

from eqfuzz.commands.journal import Journal


def test_results_are_kept_in_order(tmp_path):
    file = tmp_path / "journal.jsonl"
    first = Journal(file)
    first.add("b", {"n": 1})
    assert first.get("a", lambda: [2]) == [2]
    assert first.get("a", lambda: pytest.fail("it is there")) == [2]
    again = Journal(file)
    assert list(again) == [("b", {"n": 1}), ("a", [2])]
    assert "a" in again
    assert "c" not in again


def test_incomplete_last_line_is_dropped(tmp_path):
    file = tmp_path / "journal.jsonl"
    Journal(file).add("a", 1)
    with file.open("a") as stream:
        stream.write('["b", {"n": ')
    journal = Journal(file)
    assert list(journal) == [("a", 1)]
    journal.add("b", 2)
    assert list(Journal(file)) == [("a", 1), ("b", 2)]


def test_other_damage_is_raised(tmp_path):
    file = tmp_path / "journal.jsonl"
    file.write_text("no json\n")
    with pytest.raises(ValueError, match="Expecting value"):
        Journal(file)
