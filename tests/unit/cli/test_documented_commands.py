"""Every command line that the documentation prints has verbs, options and values that exist."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

from eqfuzz.cli.app import app
from tools.documented_commands import PAGES as TESTED
from tools.documented_commands import blocks_of

ROOT = Path(__file__).parents[3]
PAGES = [ROOT / "README.md", ROOT / "ARCHITECTURE.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^ *```[^\n]*\n(.*?)^ *```", re.DOTALL | re.MULTILINE)
LINE = re.compile(r"^ *(?:[\w-]*\$ +)?(?:\.venv/bin/)?(eqfuzz [^\n]+)$", re.MULTILINE)
INLINE = re.compile(r"(?<!`)`(eqfuzz [a-z-]+ [^`]+)`(?!`)")
PLACEHOLDER = re.compile(r"…|\.\.\.|\bN\b|\[|\|")
"""What stands for something else, and may be no value of its option."""


def printed(page: Path) -> list[str]:
    """The command lines in the blocks of a page, without comments."""
    blocks = [block.replace("\\\n", " ") for block in BLOCK.findall(page.read_text(encoding="utf-8"))]
    return _distinct(line.partition(" #")[0] for block in blocks for line in LINE.findall(block))


def mentioned(page: Path) -> list[str]:
    """The command lines in the sentences of a page; they may leave arguments out."""
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    return _distinct(" ".join(line.split()) for line in INLINE.findall(text))


def _distinct(lines: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(line for line in lines if not PLACEHOLDER.search(line)))


@pytest.fixture(scope="module")
def command() -> Any:
    """The application, none of whose verbs does anything."""
    command = typer.main.get_command(app)
    for one in _with_verbs(command):
        one.callback = lambda **_: None
    for parameter in command.params:
        if parameter.name in ("install_completion", "show_completion"):
            parameter.callback = _end  # it would change the files of the shell from which the tests run
    return command


def _end(context: Any, parameter: Any, value: Any) -> None:
    if value:
        context.exit()


def _with_verbs(command: Any) -> Iterator[Any]:
    yield command
    for verb in getattr(command, "commands", {}).values():
        yield from _with_verbs(verb)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_documented_commands_are_accepted(page: Path, command: Any, capsys: pytest.CaptureFixture[str]):
    refused = {line: _error(command, line, capsys) for line in printed(page)}
    incomplete = {line: _error(command, line, capsys) for line in mentioned(page)}
    assert {line: error for line, error in refused.items() if error} == {}
    assert {line: error for line, error in incomplete.items() if error and "Missing argument" not in error} == {}


def _error(command: Any, line: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What is wrong with a command line; empty where nothing is."""
    with pytest.raises(SystemExit) as end:
        command.main(shlex.split(line)[1:], prog_name="eqfuzz")
    error = capsys.readouterr().err
    return "" if end.value.code == 0 else error


@pytest.mark.parametrize("page", TESTED, ids=lambda page: str(page.relative_to(ROOT)))
def test_documented_commands_are_accepted_as_tests_run_them(
    page: Path, command: Any, capsys: pytest.CaptureFixture[str]
):
    commands = [one for block in blocks_of(page) for one in block.commands if not one.reason]
    lines = [one.with_words() for one in commands if one.text.removeprefix(".venv/bin/").startswith("eqfuzz ")]
    lines += [line for block in blocks_of(page) for line in block.before if line.startswith("eqfuzz ")]
    errors = {line: _error(command, line, capsys) for line in lines}
    assert {line: error for line, error in errors.items() if error} == {}


def test_pages_of_tasks_have_commands():
    tasks = sorted((ROOT / "docs" / "how-to").glob("*.md"))
    assert [page.name for page in tasks if not printed(page)] == ["index.md"]


def test_wrong_command_is_refused(command: Any, capsys: pytest.CaptureFixture[str]):
    assert "--nope" in _error(command, "eqfuzz campaign list --nope", capsys)
    assert "Missing argument" in _error(command, "eqfuzz show", capsys)
    assert "--jobs" in _error(command, "eqfuzz mutate --jobs x", capsys)
