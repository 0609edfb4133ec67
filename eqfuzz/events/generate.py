"""Events of ``eqfuzz generate dag``."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from eqfuzz.events.event import Event


@dataclasses.dataclass(frozen=True)
class ProgramGenerated(Event):
    """One program: what it uses, and where it was written. ``seconds`` is what making it took."""

    name: ClassVar[str] = "program"
    number: int
    seed: int
    template: str
    file: str
    operators: list[str]
    seconds: float


@dataclasses.dataclass(frozen=True)
class GenerationEnded(Event):
    """All programs were made, or as many as there was time for. ``operators`` counts uses, the most used first."""

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


@dataclasses.dataclass(frozen=True)
class GenerationSummary(GenerationEnded):
    """The same as the last event, where nothing is run."""

    name: ClassVar[str] = "summary"
