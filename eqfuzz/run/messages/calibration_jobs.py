"""Jobs that measure the oracle on one program, and their children's answers."""

from __future__ import annotations

import dataclasses
from typing import ClassVar, Literal, TypeVar

from eqfuzz.oracle.calibration.recall_table import RecallTable
from eqfuzz.oracle.compare.verdict import Verdict
from eqfuzz.program.program import Program
from eqfuzz.run.messages.job import ChildEvent, Count, Job, Name

_TARGET = "eqfuzz.run.jobs.calibrate:TARGET"


@dataclasses.dataclass(frozen=True, kw_only=True)
class RecallMeasured(ChildEvent):
    """Planted errors and those that were detected: ``Recall.to_json()``."""

    event: Literal["recalled"] = "recalled"
    table: RecallTable


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunObserved(ChildEvent):
    """The observation was written to the job's file."""

    event: Literal["observed"] = "observed"


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunsCompared(ChildEvent):
    """The verdict on each pair of runs, and how often other oracles call such a pair wrong."""

    event: Literal["compared"] = "compared"
    verdicts: tuple[Verdict, ...]
    alarms: dict[Name, Count]


A = TypeVar("A", bound=ChildEvent)


@dataclasses.dataclass(frozen=True, kw_only=True)
class CalibrationJob(Job[A]):
    """A measurement on one program, whose inputs ``seed`` decides."""

    TARGET: ClassVar[str] = _TARGET

    program: Program
    seed: int = 0


@dataclasses.dataclass(frozen=True, kw_only=True)
class RecallJob(CalibrationJob[RecallMeasured]):
    """Plant ``draws`` errors of each kind in what the program returns, and count those that are detected."""

    EVENTS = (RecallMeasured,)
    ANSWER = RecallMeasured

    job: Literal["recall"] = "recall"
    draws: int


@dataclasses.dataclass(frozen=True, kw_only=True)
class ObserveJob(CalibrationJob[RunObserved]):
    """Run the program in eager and write its runs to ``file``.

    Its modules begin with the same parameters as those of the runs in the file ``like``, if there is one.
    """

    EVENTS = (RunObserved,)
    ANSWER = RunObserved

    job: Literal["observe"] = "observe"
    file: str
    like: str = ""


@dataclasses.dataclass(frozen=True, kw_only=True)
class CompareRunsJob(CalibrationJob[RunsCompared]):
    """Compare the observations in ``files``, by name."""

    EVENTS = (RunsCompared,)
    ANSWER = RunsCompared

    job: Literal["compare-runs"] = "compare-runs"
    files: dict[str, str]


@dataclasses.dataclass(frozen=True, kw_only=True)
class CompareThreadsJob(CalibrationJob[RunsCompared]):
    """Compare eager runs with one thread and with each of these numbers of threads."""

    EVENTS = (RunsCompared,)
    ANSWER = RunsCompared

    job: Literal["compare-threads"] = "compare-threads"
    threads: tuple[int, ...]
