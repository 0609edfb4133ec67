"""The job that times a seed and its variants, in eager and compiled, and its answer."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Literal

from pydantic import Field

from eqfuzz.oracle.compare.speed import Interval
from eqfuzz.run.messages.job import ChildEvent, Count, Job, JobScope, ProgramInvalid, Seconds, Text
from eqfuzz.run.messages.seed_jobs import CellReport, CheckedVerdict, ProgramRewritten, RunJob


@dataclasses.dataclass(frozen=True, kw_only=True)
class ProgramTimes:
    """Seconds per call of the original (``variant`` 0) or of a variant, with its ratios to the original.

    ``slow`` is the verdict on a variant that is compiled to something slower than its original.
    """

    variant: Count
    eager: Interval
    compiled: Interval
    eager_ratio: Interval
    compiled_ratio: Interval
    slow: CheckedVerdict | None = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class ProgramNotTimed(ChildEvent):
    """A program, the original or a variant, that cannot be timed: compiled it raises."""

    event: Literal["not-timed"] = "not-timed"
    variant: Count
    problem: Text


@dataclasses.dataclass(frozen=True, kw_only=True)
class SpeedMeasured(ChildEvent):
    """The times of all programs that could be timed, over so many ``rounds``."""

    event: Literal["speed"] = "speed"
    programs: tuple[ProgramTimes, ...]
    rounds: Count


@dataclasses.dataclass(frozen=True, kw_only=True)
class SpeedJob(Job[SpeedMeasured]):
    """Time the programs of ``run``, under its first configuration, for about ``seconds`` in total."""

    EVENTS = (ProgramInvalid, ProgramRewritten, CellReport, ProgramNotTimed, SpeedMeasured)
    ANSWER = SpeedMeasured

    job: Literal["speed"] = "speed"
    run: RunJob
    seconds: Annotated[Seconds, Field(gt=0)] = 1.0

    @property
    def is_untrusted(self) -> bool:
        return self.run.is_untrusted

    @property
    def scope(self) -> JobScope:
        return self.run.scope
