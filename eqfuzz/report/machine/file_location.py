"""Where a finding is shown: the file of the program that has it, and a line there."""

from __future__ import annotations

import ast
import dataclasses
import os
from pathlib import Path, PurePath

from eqfuzz.program.parsing import parse
from eqfuzz.triage.findings.finding import Finding


@dataclasses.dataclass(frozen=True)
class FindingLocation:
    """``path`` is relative to the current folder where it lies there; ``line`` counts from 1."""

    path: str
    line: int

    @classmethod
    def of(cls, file: Path) -> FindingLocation:
        """The first line of a file."""
        return cls(relative(str(file)), 1)


def location_of(finding: Finding, folder: str) -> FindingLocation:
    """The seed, or its copy in the finding's ``folder`` where there is no such file (a program that was generated)."""
    name = finding.original.name
    copy = Path(folder, "original.py")
    path = str(copy) if not _is_file(Path(name)) and _is_file(copy) else name
    return FindingLocation(relative(path), _line(finding))


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name of a program that no file can have
        return False


def _line(finding: Finding) -> int:
    """The line of the first rewrite, else that of the function or class under test."""
    if finding.reduced is not None:
        return 1
    if finding.derivation:
        return max(1, finding.derivation[0].line)
    try:
        body = parse(finding.original.source).body
    except (SyntaxError, ValueError):
        return 1
    entries = (
        node.lineno
        for node in body
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == finding.original.entry
    )
    return next(entries, 1)


def relative(path: str) -> str:
    """``path`` from the current folder, with ``/``; as it is where it lies elsewhere."""
    if Path(path).is_absolute():
        short = os.path.relpath(path)
        path = path if short.startswith("..") else short
    return str(PurePath(path)).replace(os.sep, "/")
