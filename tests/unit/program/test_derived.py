"""Facts derived from source files are derived once for each content of the files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eqfuzz.program.derived import cache_folder, derived


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "eqfuzz"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    file = tmp_path / "source.py"
    file.write_text("a = 1\n")
    return file


def lines_of(source: Path, calls: list[str]) -> Callable[[], Any]:
    def derive() -> Any:
        calls.append("derived")
        return source.read_text().splitlines()

    return derive


def test_facts_are_derived_once_for_one_content(source: Path):
    calls: list[str] = []
    values = [derived("lines", [source], lines_of(source, calls)) for _ in range(3)]
    assert values == [["a = 1"]] * 3
    assert calls == ["derived"]


def test_facts_of_an_edited_file_are_derived_anew(source: Path):
    derived("lines", [source], lines_of(source, []))
    source.write_text("b = 2\n")
    assert derived("lines", [source], lines_of(source, [])) == ["b = 2"]


def test_facts_of_a_renamed_file_are_derived_anew(source: Path, tmp_path: Path):
    calls: list[str] = []
    derived("lines", [source], lines_of(source, calls))
    other = source.rename(tmp_path / "other.py")
    derived("lines", [other], lines_of(other, calls))
    assert len(calls) == 2


def test_damaged_entry_is_replaced(source: Path, cache: Path):
    calls: list[str] = []
    derived("lines", [source], lines_of(source, calls))
    (entry,) = cache.iterdir()
    entry.write_text('["a =')
    assert [derived("lines", [source], lines_of(source, calls)) for _ in range(2)] == [["a = 1"]] * 2
    assert len(calls) == 2


def test_three_entries_of_each_name_stay(source: Path, cache: Path):
    for number in range(5):
        source.write_text(f"a = {number}\n")
        derived("lines", [source], lines_of(source, []))
    derived("words", [source], lines_of(source, []))
    assert sorted(file.name.partition("-")[0] for file in cache.iterdir()) == ["lines"] * 3 + ["words"]


def test_facts_are_derived_each_time_where_nothing_can_be_stored(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    calls: list[str] = []
    values = [derived("lines", [source], lines_of(source, calls)) for _ in range(2)]
    assert values == [["a = 1"]] * 2
    assert len(calls) == 2


def test_user_without_a_home_has_no_cache(source: Path, monkeypatch: pytest.MonkeyPatch):
    def no_home(_: type[Path]) -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", classmethod(no_home))
    assert cache_folder() is None
    assert derived("lines", [source], lines_of(source, [])) == ["a = 1"]


def test_missing_source_is_an_error(tmp_path: Path):
    with pytest.raises(FileNotFoundError):
        derived("lines", [tmp_path / "none.py"], list)
