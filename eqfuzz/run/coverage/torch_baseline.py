"""``python -m eqfuzz.run.coverage.torch_baseline``: torch's statements, and those that run before any program does.

Writes ``TorchBaseline`` as JSON. Tracing begins before ``import torch``, so that import lines count as those of a
script under ``coverage run`` do. What comes next is the start of a fork server: it imports the compiler and compiles a
few typical programs. The lines of both have run in every process that later runs a program, and are not traced again.
"""

from __future__ import annotations

import dataclasses
import json
import sys
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import coverage
from coverage.exceptions import CoverageException, CoverageWarning
from coverage.parser import PythonParser

from eqfuzz.torch_internals.source_tree import torch_folder

Bitmaps = dict[str, int]
"""By file below torch's folder: bit n stands for line n."""


@dataclasses.dataclass(frozen=True)
class TorchBaseline:
    """The statements of all Python files below torch's folder, imported or not, as coverage.py counts them.

    ``first_lines`` lead from the other lines of a statement to its first. ``imported`` are the statements that
    ``import torch`` runs, ``started`` those that the start of a fork server adds.
    """

    versions: dict[str, str]
    statements: Bitmaps
    first_lines: dict[str, dict[int, int]]
    imported: Bitmaps
    started: Bitmaps

    @property
    def total(self) -> int:
        """The number of all statements."""
        return count(self.statements)

    def statements_in(self, lines: Mapping[str, int]) -> Bitmaps:
        """The statements that begin at, or contain, one of ``lines``; files that are none of torch's are left out."""
        ran: Bitmaps = {}
        for file, bits in lines.items():
            if file in self.statements:
                for line, first in self.first_lines.get(file, {}).items():
                    if bits >> line & 1:
                        bits |= 1 << first
                ran[file] = bits & self.statements[file]
        return ran

    def to_json(self) -> dict[str, Any]:
        maps = {name: _to_hex(getattr(self, name)) for name in ("statements", "imported", "started")}
        return {"versions": self.versions, "first_lines": self.first_lines, **maps}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Raises KeyError, TypeError and ValueError for data of another form."""
        first_lines = {
            file: {int(line): int(first) for line, first in lines.items()}
            for file, lines in data["first_lines"].items()
        }
        maps = {name: from_hex(data[name]) for name in ("statements", "imported", "started")}
        return cls(versions=dict(data["versions"]), first_lines=first_lines, **maps)


def count(bitmaps: Mapping[str, int], folders: Sequence[str] = ()) -> int:
    """The number of set bits, in files below one of ``folders`` (none: all)."""
    below = tuple(f"{folder}/" for folder in folders)
    return sum(bits.bit_count() for file, bits in bitmaps.items() if not below or file.startswith(below))


def merge(into: Bitmaps, more: Mapping[str, int]) -> Bitmaps:
    """Add ``more`` to ``into``; returns what was new."""
    new: Bitmaps = {}
    for file, bits in more.items():
        before = into.get(file, 0)
        if bits & ~before:
            new[file] = bits & ~before
            into[file] = before | bits
    return new


def from_hex(files: Mapping[str, str]) -> Bitmaps:
    """Bitmaps from hexadecimal digits, as in ``LinesTraced``. Raises ValueError."""
    return {file: int(digits, 16) for file, digits in files.items()}


def _to_hex(bitmaps: Mapping[str, int]) -> dict[str, str]:
    return {file: f"{bits:x}" for file, bits in bitmaps.items()}


def main(target: str, folder: str, file: str) -> int:
    """Measure, and write the baseline to ``file``. ``target`` and ``folder`` are those of the fork server."""
    root = torch_folder()
    first = _Tracer(root)
    import torch

    imported = first.lines()
    second = _Tracer(root)

    from eqfuzz.program.release import this_release
    from eqfuzz.run.messages.process_messages import StartupMessage
    from eqfuzz.run.processes.startup import prepare
    from eqfuzz.torch_internals.dynamo import keep_out_of_dynamo

    keep_out_of_dynamo("coverage")
    prepare(StartupMessage(target=target, path=tuple(sys.path), folder=folder))
    started = second.lines()
    statements: Bitmaps = {}
    first_lines: dict[str, dict[int, int]] = {}
    for path in sorted(root.rglob("*.py")):
        parsed = _parsed(path)
        if parsed is not None:
            statements[path.relative_to(root).as_posix()], first_lines[path.relative_to(root).as_posix()] = parsed
    release = this_release().to_versions()
    whole = TorchBaseline(versions=release, statements=statements, first_lines=first_lines, imported={}, started={})
    ran_first = whole.statements_in(imported)
    ran_next = merge(dict(ran_first), whole.statements_in(started))
    whole = dataclasses.replace(whole, imported=ran_first, started=ran_next)
    Path(file).write_text(json.dumps(whole.to_json()), encoding="utf-8")
    sys.stdout.write(f"{torch.__version__}: {whole.total:,} statements\n")
    return 0


class _Tracer:
    """Traces lines of torch from when it is made until they are asked for."""

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()
        self._tracer = coverage.Coverage(include=[str(self._root / "*")], data_file=None, config_file=False)
        self._tracer.start()

    def lines(self) -> Bitmaps:
        self._tracer.stop()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CoverageWarning)
            data = self._tracer.get_data()
        return {
            Path(file).relative_to(self._root).as_posix(): sum(1 << line for line in set(data.lines(file) or ()))
            for file in data.measured_files()
        }


def _parsed(path: Path) -> tuple[int, dict[int, int]] | None:
    """The statements of a file and the first lines of the others; None for a file of a later Python."""
    parser = PythonParser(filename=str(path))
    try:
        parser.parse_source()
    except CoverageException:  # torch has files for later releases of Python
        return None
    lines = range(1, len(parser.text.splitlines()) + 1)
    first_lines = {line: parser.first_line(line) for line in lines}
    return (
        sum(1 << line for line in parser.statements),
        {line: first for line, first in first_lines.items() if first != line and line not in parser.statements},
    )


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
