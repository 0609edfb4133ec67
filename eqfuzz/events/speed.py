"""Events of ``eqfuzz speed``."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from eqfuzz.events.event import Event
from eqfuzz.oracle.compare.speed import Interval


@dataclasses.dataclass(frozen=True, kw_only=True)
class SpeedStarted(Event):
    """First event."""

    name: ClassVar[str] = "start"

    seed: int
    """The random seed."""
    seeds: int
    """Number of seeds."""
    strategy: str
    """How seeds are rewritten."""
    rules: int
    """Number of selected rules."""
    config: str
    """Name of the compile configuration."""
    seconds: float
    """Wall seconds of timing for each seed."""
    out: str
    """Folder of the run."""
    versions: dict[str, str]
    """Version by package, see ``versions``."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class TimingStarted(Event):
    """A seed is about to be timed."""

    name: ClassVar[str] = "seed-start"

    index: int
    path: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class TimedProgram:
    """The original or a variant, timed in eager and compiled. Intervals are None where it was not timed.

    Attributes:
        variant: 0 is the original.
        rules: Rules of the variant's derivation.
        eager: Seconds per call.
        compiled: Seconds per call.
        eager_ratio: ``eager`` to that of the original.
        compiled_ratio: ``compiled`` to that of the original.
        slow: By how much the compiled form is too slow, in words; empty if it is not.
        problem: Why it has no times; empty if it has.
    """

    variant: int
    rules: list[str]
    eager: Interval | None = None
    compiled: Interval | None = None
    eager_ratio: Interval | None = None
    compiled_ratio: Interval | None = None
    slow: str = ""
    problem: str = ""


@dataclasses.dataclass(frozen=True, kw_only=True)
class SeedTimed(Event):
    """A seed was timed; ``problem`` says why it was not: an invalid seed, a process that died."""

    name: ClassVar[str] = "seed"

    index: int
    path: str
    programs: list[TimedProgram]
    rounds: int
    problem: str = ""


@dataclasses.dataclass(frozen=True, kw_only=True)
class SpeedSummary(Event):
    """Last event, also of an interrupted run."""

    name: ClassVar[str] = "summary"

    seeds: int
    """Number of seeds."""
    timed: int
    """Number of seeds that were timed."""
    slow: int
    """Number of variants that are too slow compiled."""
    eager_ratios: list[float]
    """Medians of all variants, in order of the seeds."""
    compiled_ratios: list[float]
    """The same compiled."""
    interrupted: bool
    """Whether it was interrupted."""
    out_of_time: bool
    """Whether the time limit ended it."""
    seconds: float
    """Wall seconds."""
