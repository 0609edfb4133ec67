"""Events of ``eqfuzz generate dag``."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from eqfuzz.events.event import Event


@dataclasses.dataclass(frozen=True, kw_only=True)
class ProgramGenerated(Event):
    """A program was generated and written to ``file``; ``operators`` are those that it uses."""

    name: ClassVar[str] = "program"

    number: int
    seed: int
    template: str
    file: str
    operators: list[str]
    seconds: float
    timings: dict[str, float]
    """Wall seconds by step."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class GenerationEnded(Event):
    """All programs were generated, or it was interrupted; ``operators`` has the number of uses, the most used first."""

    name: ClassVar[str] = "generation"

    start: int
    count: int
    template: str
    programs: int
    operators: dict[str, int]
    unused: list[str]
    interrupted: bool
    seconds: float
    out: str


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
