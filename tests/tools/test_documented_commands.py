"""Commands of pages are read with how they are tested, and run as a user runs them."""

from __future__ import annotations

from pathlib import Path

import pytest

import tools.documented_commands as documented
from tools.documented_commands import PAGES, InvalidClause, blocks_of, pattern_of, run_page

FENCE = "```"


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A page of a repository that has nothing else."""
    monkeypatch.setattr(documented, "ROOT", tmp_path)
    return tmp_path / "page.md"


def write(page: Path, clauses: str, text: str, language: str = "console") -> Path:
    comment = f"<!-- test: {clauses} -->\n" if clauses else ""
    page.write_text(f"# A page\n\n{comment}{FENCE}{language}\n{text}{FENCE}\n", encoding="utf-8")
    return page


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_clauses_of_pages_are_valid(page: Path):
    assert blocks_of(page) or page.name == "index.md"


def test_commands_are_read_with_their_output(page: Path):
    (block,) = blocks_of(write(page, "", "$ eqfuzz a \\\n    --b  # why\nout\nhead$ eqfuzz c\n"))
    assert [(command.text, command.output) for command in block.commands] == [
        ("eqfuzz a --b", "out\n"),
        ("eqfuzz c", ""),
    ]
    assert block.place == "page.md:3"


def test_clauses_hold_for_one_command_or_all(page: Path):
    text = "$ eqfuzz a\n$ eqfuzz b\n$ eqfuzz c\n"
    (block,) = blocks_of(write(page, "long; --time 9s; 2: with X; 3: skip (no GPU); 1: exit 2", text))
    assert block.is_long
    assert [command.words for command in block.commands] == ["--time 9s", "X", "--time 9s"]
    assert [command.reason for command in block.commands] == ["", "", "no GPU"]
    assert block.commands[0].exit_codes == {2}


@pytest.mark.parametrize("clause", ["skip", "skip ()", "4: --x", "lang", "-- x"])
def test_unknown_clause_is_refused(page: Path, clause: str):
    with pytest.raises(InvalidClause, match=r"page\.md:4"):
        blocks_of(write(page, clause, "$ eqfuzz a\n"))


def test_expected_output_has_gaps():
    pattern = pattern_of("a … c\n…\nlast\n")
    assert pattern.fullmatch("a 1 2 c\nx\ny\nlast\n")
    assert not pattern.fullmatch("a 1 2 c\nx\n")


def test_commands_run_one_after_the_other(page: Path):
    write(page, "output; 3: exit 3", "$ echo a > file\n$ cat file\na\n$ (exit 3)\n")
    lines: list[str] = []
    results = run_page(page, runs_long=False, show=lines.append)
    assert [result.problem for result in results] == ["", "", ""]
    assert [line[0] for line in lines] == ["✓", "✓", "✓"]
    assert not (page.parent / "file").exists()


@pytest.mark.parametrize(
    ("clauses", "command", "problem"),
    [("", "exit 2", "exit code 2"), ("exit 0", "exit 1", "exit code 1"), ("output", "echo other", "another output")],
)
def test_command_that_ends_otherwise_is_a_problem(page: Path, clauses: str, command: str, problem: str):
    (result,) = run_page(write(page, clauses, f"$ {command}\nshown\n"), runs_long=False, show=lambda _: None)
    assert result.problem.startswith(problem)


def test_what_is_skipped_is_shown_with_its_reason(page: Path):
    lines: list[str] = []
    assert run_page(write(page, "skip (no GPU)", "$ eqfuzz a\n"), runs_long=True, show=lines.append) == []
    assert lines == ["-  page.md:4  eqfuzz a  skipped: no GPU"]


def test_long_commands_run_only_with_all(page: Path):
    write(page, "long", "$ true\n")
    assert run_page(page, runs_long=False, show=lambda _: None) == []
    assert len(run_page(page, runs_long=True, show=lambda _: None)) == 1


def test_files_of_page_are_written(page: Path):
    page.write_text(f"{FENCE}python\n# a.py\nprint(1)\n{FENCE}\n\n{FENCE}console\n$ python a.py\n1\n{FENCE}\n")
    (result,) = run_page(page, runs_long=False, show=lambda _: None)
    assert result.code == 0
