"""Events of ``eqfuzz speed``."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from eqfuzz.events.event import Event
from eqfuzz.oracle.compare.speed import Interval


@dataclasses.dataclass(frozen=True, kw_only=True)
class SpeedStarted(Event):
    """First event: how many ``seeds`` and ``rules``, and the circumstances."""

    name: ClassVar[str] = "start"

    seed: int
    seeds: int
    strategy: str
    rules: int
    config: str
    seconds: float
    out: str
    versions: dict[str, str]


@dataclasses.dataclass(frozen=True, kw_only=True)
class TimingStarted(Event):
    """A seed is about to be timed."""

    name: ClassVar[str] = "seed-start"

    index: int
    path: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class TimedProgram:
    """The original (``variant`` 0) or a variant with its ``rules``: seconds per call, and ratios to the original.

    ``slow`` says by how much its compiled form is too slow (empty: it is not), ``problem`` why it has no times.
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
    """Last event, also of an interrupted run. ``ratios`` of all variants to their originals, in order of the seeds."""

    name: ClassVar[str] = "summary"

    seeds: int
    timed: int
    slow: int
    eager_ratios: list[float]
    compiled_ratios: list[float]
    interrupted: bool
    out_of_time: bool
    seconds: float
