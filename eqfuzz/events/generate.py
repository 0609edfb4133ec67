"""Events of ``eqfuzz generate dag``."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from eqfuzz.events.event import Event


@dataclasses.dataclass(frozen=True, kw_only=True)
class ProgramGenerated(Event):
    """A program was generated and written."""

    name: ClassVar[str] = "program"

    number: int
    """Position among the programs of the call, from 0."""
    seed: int
    """Its random seed."""
    template: str
    """Name of its template."""
    file: str
    """Path of the program."""
    operators: list[str]
    """Names of the operators that it uses, with repetitions."""
    seconds: float
    """Wall seconds of all steps but writing files."""
    timings: dict[str, float]
    """Wall seconds by step."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class GenerationEnded(Event):
    """All programs were generated, or it was interrupted."""

    name: ClassVar[str] = "generation"

    start: int
    """Random seed of the first program."""
    count: int
    """Number of programs that were asked for."""
    template: str
    """Name of the template or mixture."""
    programs: int
    """Number of programs that were written."""
    operators: dict[str, int]
    """Number of uses by operator, the most used first."""
    unused: list[str]
    """Names of the operators that no program uses."""
    interrupted: bool
    """Whether it was interrupted."""
    seconds: float
    """Wall seconds."""
    out: str
    """Folder of the run."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class ProgramsRun(Event):
    """Programs were compared, all or up to an interruption: comes before the summary of their run."""

    name: ClassVar[str] = "programs"

    template: str
    outcomes: dict[str, list[int]]
    """Random seeds of the programs that were run to their end, by outcome."""
    operators: dict[str, int]
    """Number of uses in the programs that are valid, the most used first."""
    unused: list[str]


@dataclasses.dataclass(frozen=True, kw_only=True)
class GenerationSummary(GenerationEnded):
    """The same as the last event of a call that runs none of the programs."""

    name: ClassVar[str] = "summary"
