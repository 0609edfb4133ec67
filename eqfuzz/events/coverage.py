"""Events of ``eqfuzz coverage``."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from eqfuzz.events.event import Event


@dataclasses.dataclass(frozen=True, kw_only=True)
class CoverageStarted(Event):
    """First event."""

    name: ClassVar[str] = "start"

    seed: int
    """The random seed."""
    programs: int
    """Number of programs, those of earlier calls included."""
    earlier: int
    """Number of programs that an earlier call has traced."""
    sources: list[str]
    """Names of the sources, in their order."""
    configs: list[str]
    """Names of the compile configurations."""
    strategy: str
    """How seeds are rewritten."""
    jobs: int
    """Programs traced at once."""
    out: str
    """Folder of the run."""
    versions: dict[str, str]
    """Version by package, see ``versions``."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class TraceStarted(Event):
    """A program is about to be traced."""

    name: ClassVar[str] = "program-start"

    index: int
    program: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class ProgramCovered(Event):
    """A program was traced."""

    name: ClassVar[str] = "program"

    index: int
    """Position of the program in the call, from 0."""
    source: str
    """Name of its source."""
    program: str
    """Name of the program."""
    config: str
    """Name of its compile configuration."""
    new: int
    """Number of statements that no earlier program has run."""
    covered: int
    """Number of statements that all programs have run so far."""
    problem: str
    """Why it is invalid, or how its process died; empty for neither."""
    seconds: float
    """Wall seconds."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class CoverageCount:
    """Statements that ran: of all of torch, and of Dynamo, Inductor and functorch alone."""

    programs: int
    torch: int
    compiler: int


@dataclasses.dataclass(frozen=True, kw_only=True)
class CoverageSummary(Event):
    """Last event, also of an interrupted call.

    Attributes:
        statements: All of torch's, and those of the compiler.
        imported: What ``import torch`` runs.
        started: The same with the import of the compiler and its first compilations.
        sources: Each source's programs alone, with what ``started`` counts.
        together: All programs.
        curves: By source, and for all together: numbers of programs, and of the statements of torch that they have
            covered, ``started`` first.
        problems: Number of programs that are invalid or whose process died.
        interrupted: Whether it was interrupted.
        out_of_time: Whether the time limit ended it.
        seconds: Wall seconds.
    """

    name: ClassVar[str] = "summary"

    statements: CoverageCount
    imported: CoverageCount
    started: CoverageCount
    sources: dict[str, CoverageCount]
    together: CoverageCount
    curves: dict[str, list[tuple[int, int]]]
    problems: int
    interrupted: bool
    out_of_time: bool
    seconds: float
