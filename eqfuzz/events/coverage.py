"""Events of ``eqfuzz coverage``."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from eqfuzz.events.event import Event


@dataclasses.dataclass(frozen=True, kw_only=True)
class CoverageStarted(Event):
    """First event: how many ``programs`` of which ``sources``, and how many of them an earlier call has traced."""

    name: ClassVar[str] = "start"

    seed: int
    programs: int
    earlier: int
    sources: list[str]
    configs: list[str]
    strategy: str
    jobs: int
    out: str
    versions: dict[str, str]


@dataclasses.dataclass(frozen=True, kw_only=True)
class TraceStarted(Event):
    """A program is about to be traced."""

    name: ClassVar[str] = "program-start"

    index: int
    program: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class ProgramCovered(Event):
    """A program was traced: its ``new`` statements, and how many all programs have ``covered`` so far.

    ``problem`` says why it is invalid, or how its process died.
    """

    name: ClassVar[str] = "program"

    index: int
    source: str
    program: str
    config: str
    new: int
    covered: int
    problem: str
    seconds: float


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
        curve: Programs and the statements of torch that they have covered, ``started`` first.
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
