"""A planted fault: a ``--preload`` file in ``faults/`` that is read without running it, or executed."""

from __future__ import annotations

import ast
import dataclasses
import linecache
import re
import sys
import types
from pathlib import Path

from eqfuzz.program.release import Release
from eqfuzz.run.preload import NAME, execute_preload

FOLDER = Path(__file__).parent / "faults"

BLIND = Path(__file__).parent / "blind"
"""Faults whose author knew no seed, and for which no seed was written."""

DEFAULT_RANGE = ">=2.13"
"""Releases for faults without a TORCH of their own: witnesses were run at both ends of the range."""

REACHES = ("plain", "rewrite")
"""Whether seeds themselves reach a fault, or only variants of them."""


class BadFault(Exception):
    """A fault file lacks a required part; ``str()`` is one line."""


@dataclasses.dataclass(frozen=True)
class Fault:
    """A planted fault.

    Attributes:
        name: Name of its file, without the suffix.
        path: Its file.
        kind: Part of the compiler that it is planted in, such as ``lowering``.
        reached_by: ``plain`` where the shipped seeds reach it as they are, ``rewrite`` where only variants do.
        issue: URL of the issue that it is modelled on.
        summary: What is broken, one sentence.
        torch: Range of releases that it can be planted in.
        lacks: Name that other releases lack; empty where the range is only what was tried.
    """

    name: str
    path: Path
    kind: str
    reached_by: str
    issue: str
    summary: str
    torch: str = DEFAULT_RANGE
    lacks: str = ""

    def is_plantable(self, release: Release) -> bool:
        """Whether ``release`` has what the fault replaces."""
        return release.fits(self.torch)

    @property
    def limit(self) -> str:
        """Why it cannot be planted in other releases."""
        return f"it lacks {self.lacks}" if self.lacks else f"it is known to work in {self.torch} only"

    @property
    def issue_number(self) -> str:
        return "#" + self.issue.rsplit("/", 1)[-1]


def read_faults(folder: Path = FOLDER) -> list[Fault]:
    """All faults in ``folder``, sorted by name. Raises BadFault."""
    return [read_fault(path) for path in sorted(folder.glob("*.py")) if path.name != "__init__.py"]


def read_fault(path: Path) -> Fault:
    """Read the fault in the file at ``path`` without running it. Raises BadFault."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documentation = ast.get_docstring(tree) or ""
    issue = re.search(r"Modelled on (https://github\.com/pytorch/pytorch/(?:issues|pull)/\d+)", documentation)
    constants = {
        statement.targets[0].id: statement.value.value
        for statement in tree.body
        if isinstance(statement, ast.Assign)
        and isinstance(statement.targets[0], ast.Name)
        and isinstance(statement.value, ast.Constant)
    }
    functions = {s.name for s in tree.body if isinstance(s, ast.FunctionDef)}
    problem = (
        "its docstring names no issue that it is modelled on"
        if issue is None
        else "it has no KIND"
        if not constants.get("KIND")
        else f"REACHED_BY is none of {', '.join(REACHES)}"
        if constants.get("REACHED_BY") not in REACHES
        else "it has no plant() or no witness()"
        if not {"plant", "witness"} <= functions
        else "its last statement is not plant()"
        if not _plants(tree.body[-1])
        else "TORCH says where it can be planted, but LACKS not what other releases lack"
        if bool(constants.get("TORCH")) != bool(constants.get("LACKS"))
        else None
    )
    if problem is not None or issue is None:
        raise BadFault(f"{path.name}: {problem}")
    return Fault(
        name=path.stem,
        path=path,
        kind=str(constants["KIND"]),
        reached_by=str(constants["REACHED_BY"]),
        issue=issue.group(1),
        summary=documentation.splitlines()[0],
        torch=str(constants.get("TORCH", DEFAULT_RANGE)),
        lacks=str(constants.get("LACKS", "")),
    )


def execute(fault: Fault, *, planted: bool) -> types.ModuleType:
    """Execute the fault's module: ``planted`` as ``--preload`` does, otherwise without its last statement."""
    if planted:
        return execute_preload(fault.path)
    source = fault.path.read_text(encoding="utf-8")
    tree = ast.parse(source)
    tree.body.pop()
    linecache.cache[str(fault.path)] = (len(source), None, source.splitlines(keepends=True), str(fault.path))
    module = types.ModuleType(NAME)
    module.__file__ = str(fault.path)
    sys.modules[NAME] = module
    exec(compile(tree, str(fault.path), "exec", dont_inherit=True), module.__dict__)
    return module


def _plants(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and ast.unparse(statement.value) == "plant()"
