"""Journals: what was added is there for the next call, whatever ended the last."""

from __future__ import annotations

import pytest

from eqfuzz.commands.journal import Journal
from eqfuzz.errors import UsageError


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


@pytest.mark.parametrize("line", ["no json", "[1]", "3", '["a", 1, 2]', '[["a"], 1]'])
def test_other_damage_is_one_line_with_its_place(tmp_path, line):
    file = tmp_path / "journal.jsonl"
    file.write_text(f'["a", 1]\n{line}\n["b", 2]\n')
    with pytest.raises(UsageError) as caught:
        Journal(file)
    assert str(caught.value).startswith(f"{file}:2: is no result (")
    assert "\n" not in str(caught.value)


def test_unreadable_file_is_one_line(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "binary").write_bytes(b"\xff\n")
    for name in ("folder", "binary"):
        with pytest.raises(UsageError, match=f"{name}: cannot be read: .*; choose another folder$"):
            Journal(tmp_path / name)
