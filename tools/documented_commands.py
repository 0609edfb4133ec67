"""Run the commands that pages print, as a user would: ``python -m tools.documented_commands [PAGE …]``.

The blocks of a page run in its order, in a copy of the repository: lines of ``console`` blocks behind a ``$``, and
lines of blocks without a language that begin with ``eqfuzz``, ``make`` or a path. A block whose first line is a comment
with the name of a file is written to it. A comment in front of a block says how it is run, in clauses between
semicolons::

    <!-- test: long; --time 20s -->

======================  ===============================================================================================
``long``                it compiles, and takes more than some seconds
``skip (REASON)``       it is not run
``with WORDS``          what eqfuzz's commands get besides; options need no ``with``
``exit N``              how it ends; otherwise 0 or 1
``N: CLAUSE``           one of the three above for the command N of the block, from 1
``output``              it has to print what the block shows; ``…`` stands for anything, as a line for any lines
``before COMMAND``      a command to run first
``files PATH …``        files and folders of the repository to copy to where it runs
``file NAME``           the block is that file
``id ID``               an id of the page that stands for that of the run's first finding
``empty``               it and all later blocks run in an empty folder
======================  ===============================================================================================

Without a page: the README, the tutorial and the how-to guides. Without ``--all`` only what is not long. Prints each
command with its exit code and seconds, and what is skipped with the reason. ``--journal FILE`` keeps the results of
pages: the same command resumes.

Exit codes: 0 all ended as documented, 1 some did not, 2 bad usage.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from eqfuzz.commands.journal import Journal

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = (ROOT / "README.md", DOCS / "index.md", DOCS / "tutorial.md", *sorted((DOCS / "how-to").glob("*.md")))

SUCCESS = frozenset({0, 1})
"""Exit codes of a verb that did its job: 1 means findings."""

_BLOCK = re.compile(
    r"(?:^ *<!-- test:(?P<clauses>.*?)-->\n(?: *<!--[^\n]*-->\n)*\s*)?"
    r"^(?P<indent> *)```(?P<language>\w*)\n(?P<text>.*?)^ *```$",
    re.DOTALL | re.MULTILINE,
)
_PROMPT = re.compile(r"^(?:[\w-]*\$) ", re.MULTILINE)
_PLAIN_COMMAND = re.compile(r"(?:eqfuzz|make|\.venv/\S+) ")
_SEPARATOR = re.compile(r";(?![^(]*\))|\n")
_NUMBERED = re.compile(r"(\d+): (.+)")
_FILE_NAME = re.compile(r"# ([\w/]+\.\w+)\n")
_LEFT_OUT = (".git", ".venv*", "site", "eqfuzz-out", "__pycache__", ".*_cache", ".torches", "dist", "build")
_SECONDS = 1800


class InvalidClause(ValueError):
    """A comment in front of a block that says nothing known; ``str()`` names page, line and clause."""


@dataclasses.dataclass(frozen=True)
class DocumentedCommand:
    """A command of a block, and how it is run."""

    text: str
    """As it stands there, in one line."""
    output: str
    """What the page shows below it."""
    words: str = ""
    """What it gets besides."""
    reason: str = ""
    """Why it is not run; empty where it is."""
    exit_codes: frozenset[int] = SUCCESS
    """How it may end."""

    def with_words(self, ids: Mapping[str, str] | None = None) -> str:
        """The command as it is run, with other ids."""
        words = [(ids or {}).get(word, word) for word in self.text.split()]
        end = words.index("--") if "--" in words else len(words)
        return " ".join([*words[:end], *([self.words] if self.words else []), *words[end:]])


@dataclasses.dataclass(frozen=True)
class Block:
    """A block of a page with commands or a file, and how it is run."""

    page: Path
    """Its page."""
    line: int
    """Line of the page at which it begins, from 1."""
    commands: tuple[DocumentedCommand, ...]
    """Its commands, in order."""
    file: str = ""
    """Name of the file that it is; empty for commands."""
    text: str = ""
    """Content of that file."""
    is_long: bool = False
    """Whether it takes more than some seconds."""
    is_compared: bool = False
    """Whether the output is compared with the page."""
    starts_empty: bool = False
    """Whether it and later blocks run in an empty folder."""
    before: tuple[str, ...] = ()
    """Commands that run first."""
    files: tuple[str, ...] = ()
    """Paths of the repository that are copied to where it runs."""
    ids: tuple[str, ...] = ()
    """Ids that stand for the first finding of the run."""

    @property
    def place(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def skipped(self) -> list[DocumentedCommand]:
        """The commands that are not run."""
        return [command for command in self.commands if command.reason]


@dataclasses.dataclass(frozen=True)
class CommandResult:
    """A command that has ended."""

    place: str
    """Page and line of its block."""
    command: str
    """As it was run."""
    code: int
    """Exit code."""
    seconds: float
    """Wall seconds."""
    problem: str = ""
    """What is not as documented; empty where all is."""


def blocks_of(page: Path) -> list[Block]:
    """The blocks of a page that have commands or are files. Raises InvalidClause."""
    text = page.read_text(encoding="utf-8")
    blocks = (_block(page, match, 1 + text.count("\n", 0, match.start("language"))) for match in _BLOCK.finditer(text))
    return [block for block in blocks if block is not None]


def _block(page: Path, match: re.Match[str], line: int) -> Block | None:
    text = re.sub(rf"^{match['indent']}", "", match["text"], flags=re.MULTILINE)
    name = _FILE_NAME.match(text)
    commands = tuple(_commands(match["language"], text))
    block = Block(page, line, commands, file=name[1] if name and not commands else "", text=text)
    for clause in filter(None, (part.strip() for part in _SEPARATOR.split(match["clauses"] or ""))):
        block = _with_clause(block, clause)
    return block if block.commands or block.file or match["clauses"] else None


def _with_clause(block: Block, clause: str) -> Block:
    word, _, rest = clause.partition(" ")
    match word:
        case "long":
            return dataclasses.replace(block, is_long=True)
        case "output":
            return dataclasses.replace(block, is_compared=True)
        case "empty":
            return dataclasses.replace(block, starts_empty=True)
        case "before":
            return dataclasses.replace(block, before=(*block.before, rest))
        case "files":
            return dataclasses.replace(block, files=(*block.files, *rest.split()))
        case "file":
            return dataclasses.replace(block, file=rest)
        case "id":
            return dataclasses.replace(block, ids=(*block.ids, rest))
    numbered = _NUMBERED.match(clause)
    chosen = {int(numbered[1])} if numbered else set(range(1, 1 + len(block.commands)))
    changes = _changes(numbered[2] if numbered else clause)
    if not changes or not chosen or max(chosen) > len(block.commands):
        raise InvalidClause(f"{block.place}: {clause!r} says nothing about a test")
    commands = [dataclasses.replace(c, **changes) if n in chosen else c for n, c in enumerate(block.commands, 1)]
    return dataclasses.replace(block, commands=tuple(commands))


def _changes(clause: str) -> dict[str, Any]:
    """What a clause changes of a command; nothing for an unknown clause."""
    if reason := re.fullmatch(r"skip \((.+)\)", clause):
        return {"reason": reason[1]}
    if code := re.fullmatch(r"exit (\d+)", clause):
        return {"exit_codes": frozenset({int(code[1])})}
    if words := re.fullmatch(r"(?:with (?=\S)|(?=--\w))(.+)", clause):
        return {"words": words[1]}
    return {}


def _commands(language: str, text: str) -> Iterator[DocumentedCommand]:
    if language == "console":
        parts = _PROMPT.split(text)[1:]
        for part in parts:
            command, _, output = part.replace("\\\n", "").partition("\n")
            yield DocumentedCommand(_without_comment(command), output)
    elif not language:
        for line in text.replace("\\\n", "").splitlines():
            if _PLAIN_COMMAND.match(line):
                yield DocumentedCommand(_without_comment(line), "")


def _without_comment(command: str) -> str:
    return re.sub(r"\s+# .*$", "", " ".join(command.split()))


def pattern_of(expected: str) -> re.Pattern[str]:
    """What a page says a command prints: a line ``…`` stands for any lines, ``…`` inside a line for anything."""
    parts = []
    for line in expected.splitlines():
        if line == "…":
            parts.append(r"(?:[^\n]*\n)*?")
        else:
            words = [r"\s+".join(map(re.escape, piece.split())) for piece in line.split("…")]
            parts.append(r"[ ]*" + r"[^\n]*".join(words) + r"[ ]*\n")
    return re.compile("".join(parts))


class Session:
    """A user with a copy of the repository, who runs one command after the other in it."""

    def __init__(self, folder: Path) -> None:
        self._copy = folder / "eqfuzz"
        shutil.copytree(ROOT, self._copy, ignore=shutil.ignore_patterns(*_LEFT_OUT), symlinks=True)
        self._folder = self._copy
        programs = self._copy / ".venv" / "bin"
        programs.mkdir(parents=True)
        for name, command in (("eqfuzz", "-m eqfuzz "), ("python", ""), ("pytest", "-m pytest ")):
            program = programs / name
            program.write_text(f'#!/bin/sh\nexec "{sys.executable}" {command}"$@"\n', encoding="utf-8")
            program.chmod(0o755)
        home = folder / "home"
        home.mkdir()
        cache = os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache"))
        path = f"{programs}:{Path(sys.executable).parent}:{os.environ['PATH']}"
        terminal = {"COLUMNS": "100", "NO_COLOR": "1", "SHELL": "/bin/bash"}
        folders = {"HOME": str(home), "XDG_CACHE_HOME": cache, "PATH": path, "PYTHONPATH": str(ROOT)}
        self._environment = {**os.environ, **terminal, **folders}
        self._last = 0

    def run(self, block: Block) -> Iterator[CommandResult]:
        """Run a block: write its file, or run its commands."""
        if block.starts_empty:
            self._folder = self._copy.parent / "empty"
            self._folder.mkdir(exist_ok=True)
        for name in block.files:
            source, target = ROOT / name, self._folder / Path(name).name
            if source.is_dir():
                shutil.copytree(source, target, dirs_exist_ok=True)
            else:
                shutil.copy(source, target)
        if block.file:
            (self._folder / block.file).parent.mkdir(parents=True, exist_ok=True)
            (self._folder / block.file).write_text(block.text, encoding="utf-8")
            return
        for text in block.before:
            yield self._result(block, DocumentedCommand(text, ""), is_compared=False)
        for command in block.commands:
            if not command.reason:
                yield self._result(block, command, is_compared=block.is_compared)

    def _first_finding(self) -> str:
        folders = sorted(self._folder.glob("eqfuzz-out/findings/*/"))
        return folders[0].name if folders else "NONE"

    def _result(self, block: Block, command: DocumentedCommand, *, is_compared: bool) -> CommandResult:
        start = time.monotonic()
        text = command.with_words(dict.fromkeys(block.ids, self._first_finding()) if block.ids else None)
        done = subprocess.run(
            ["bash", "-c", f"(exit {self._last}); {text}"],
            cwd=self._folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
        self._last = done.returncode
        problem = ""
        if done.returncode not in command.exit_codes:
            problem = f"exit code {done.returncode}: {done.stderr.strip()[-500:] or done.stdout.strip()[-500:]}"
        elif "Traceback (most recent call last)" in done.stderr:
            problem = f"a traceback: {done.stderr.strip()[-500:]}"
        elif is_compared and not pattern_of(command.output).fullmatch(done.stdout):
            problem = f"another output:\n{done.stdout}{done.stderr}"
        return CommandResult(block.place, text, done.returncode, round(time.monotonic() - start, 1), problem)


def run_page(page: Path, *, runs_long: bool, show: Callable[[str], None] = print) -> list[CommandResult]:
    """Run the blocks of a page, and show each command when it has ended. Raises InvalidClause."""
    results: list[CommandResult] = []
    blocks = [block for block in blocks_of(page) if runs_long or not block.is_long]
    for block in blocks:
        for command in block.skipped:
            show(f"-  {block.place}  {command.text}  skipped: {command.reason}")
    if all(command.reason for block in blocks for command in block.commands):
        return results
    with tempfile.TemporaryDirectory(prefix="eqfuzz-docs-") as folder:
        session = Session(Path(folder))
        for block in blocks:
            for result in session.run(block):
                mark = "✗" if result.problem else "✓"
                show(f"{mark}  {block.place}  {result.command}  exit code {result.code}, {result.seconds} s")
                if result.problem:
                    show(result.problem)
                results.append(result)
    return results


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.documented_commands", description=__doc__)
    parser.add_argument("pages", nargs="*", type=Path, metavar="PAGE", help="Markdown files")
    parser.add_argument("--all", action="store_true", help="run what compiles, too")
    parser.add_argument("--journal", type=Path, metavar="FILE", help="keep the results of pages there")
    options = parser.parse_args(arguments)
    journal = Journal(options.journal) if options.journal else None
    is_clean = True
    for page in [page.resolve() for page in options.pages] or PAGES:
        results = journaled(page, journal, runs_long=options.all)
        is_clean = is_clean and not any(result["problem"] for result in results)
    return 0 if is_clean else 1


def journaled(page: Path, journal: Journal | None, *, runs_long: bool) -> list[dict[str, Any]]:
    """The results of a page as JSON; those of the journal where the page is the same and all was as documented."""
    digest = hashlib.sha256(page.read_bytes()).hexdigest()[:12]
    key = f"{page.relative_to(ROOT)} {digest} {'all' if runs_long else 'short'}"
    if journal is not None and key in journal:
        stored: list[dict[str, Any]] = dict(journal)[key]
        if not any(result["problem"] for result in stored):
            return stored
    results = [dataclasses.asdict(result) for result in run_page(page, runs_long=runs_long)]
    if journal is not None:
        journal.add(key, results)
    return results


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        sys.exit(main(sys.argv[1:]))
    sys.exit(130)
