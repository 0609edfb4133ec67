"""Measurements of the oracle in a child, for ``eqfuzz self-check``: one program per job."""

from __future__ import annotations

import contextlib
import pickle
import warnings
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

from eqfuzz.oracle.calibration.capability import compared, observed
from eqfuzz.oracle.calibration.recall import measure
from eqfuzz.run.configs.named import DEFAULT_CONFIG
from eqfuzz.run.jobs.several_threads import several_threads
from eqfuzz.run.messages.calibration_jobs import (
    CalibrationJob,
    CompareRunsJob,
    CompareThreadsJob,
    ObserveJob,
    RecallJob,
    RecallMeasured,
    RunObserved,
    RunsCompared,
)
from eqfuzz.run.messages.job import Emit, JobTarget, StageEntered
from eqfuzz.torch_internals.dynamo import forget_compiled_code

SECONDS = 600.0
"""Wall limit of one program; most take a second or two."""


@contextlib.contextmanager
def _measuring(job: CalibrationJob[Any], emit: Emit) -> Generator[None]:
    """Context of every measurement: its stage is announced, warnings are off."""
    emit(StageEntered(stage=job.message_name, seconds=SECONDS))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _recall(job: RecallJob, emit: Emit) -> None:
    def compiled(target: Callable[..., Any]) -> Callable[..., Any]:
        forget_compiled_code()
        return DEFAULT_CONFIG.compile(target)

    with _measuring(job, emit), DEFAULT_CONFIG.patched():
        table = measure(job.program, job.seed, job.draws, transform=compiled)
    emit(RecallMeasured(table=table.to_json()))


def _observe(job: ObserveJob, emit: Emit) -> None:
    with _measuring(job, emit):
        like = Path(job.like) if job.like else None
        state = pickle.loads(like.read_bytes()).state if like is not None and like.exists() else None
        Path(job.file).write_bytes(pickle.dumps(observed(job.program, job.seed, state)))
    emit(RunObserved())


def _compare(job: CompareRunsJob, emit: Emit) -> None:
    with _measuring(job, emit):
        runs = {name: pickle.loads(Path(file).read_bytes()) for name, file in job.files.items()}
        verdicts, alarms = compared(job.program, job.seed, runs)
    emit(RunsCompared(verdicts=tuple(verdicts), alarms=dict(alarms)))


def _compare_threads(job: CompareThreadsJob, emit: Emit) -> None:
    """The reference is that of a run with the last of the numbers of threads."""
    with _measuring(job, emit):
        runs = {"1": observed(job.program, job.seed)}
        for count in job.threads:
            with several_threads(count):
                runs[str(count)] = observed(job.program, job.seed, runs["1"].state)
        with several_threads(job.threads[-1]):
            verdicts, alarms = compared(job.program, job.seed, runs)
    emit(RunsCompared(verdicts=tuple(verdicts), alarms=dict(alarms)))


TARGET = JobTarget(
    {RecallJob: _recall, ObserveJob: _observe, CompareRunsJob: _compare, CompareThreadsJob: _compare_threads}
)
