"""Targets of the child processes of `benchmarks.runner`: the same programs compiled in different ways."""

from __future__ import annotations

import dataclasses
import time
from typing import Literal

from eqfuzz.oracle.observe.observer import observe
from eqfuzz.program.load import Loaded
from eqfuzz.program.program import Program
from eqfuzz.rewrite.derivation import original
from eqfuzz.run.configs.named import DEFAULT_CONFIG
from eqfuzz.run.jobs.batch import BatchedCells
from eqfuzz.run.jobs.cell_judge import CellJudge, open_cells
from eqfuzz.run.jobs.loaded_program import LoadedVariant
from eqfuzz.run.jobs.stage_timer import StageTimer
from eqfuzz.run.limits import Limits
from eqfuzz.run.messages.job import ChildEvent, Emit, Job, JobTarget, StageEntered
from eqfuzz.run.messages.seed_jobs import CellReport, RunJob


@dataclasses.dataclass(frozen=True, kw_only=True)
class BatchMeasured(ChildEvent):
    """What became of a batch, and the wall seconds that it took."""

    event: Literal["batch"] = "batch"
    verdicts: tuple[str, ...]
    erased: int
    account: dict[str, float]
    kernels: dict[str, int]
    seconds: float


@dataclasses.dataclass(frozen=True, kw_only=True)
class StockJob(Job[BatchMeasured]):
    """Compile one program as torch does."""

    TARGET = "benchmarks.targets:TARGET"
    EVENTS = (BatchMeasured,)
    ANSWER = BatchMeasured

    job: Literal["stock"] = "stock"
    programs: tuple[Program, ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class BatchJob(Job[BatchMeasured]):
    """Compile and judge unrelated programs in one batch."""

    TARGET = "benchmarks.targets:TARGET"
    EVENTS = (BatchMeasured,)
    ANSWER = BatchMeasured

    job: Literal["batch"] = "batch"
    programs: tuple[Program, ...]


def compile_one(program: Program) -> None:
    """Run ``program`` in eager and compiled, as a fuzzer with one process per program does."""
    loaded = Loaded(program)
    calls = loaded.calls(0)
    observe(loaded.instance, calls)
    with DEFAULT_CONFIG.patched():
        compiled = observe(loaded.instance, calls, transform=DEFAULT_CONFIG.compile)
    if compiled.calls[0].raised is not None:
        raise SystemExit(f"{program.name}: {compiled.calls[0].raised.message}")


def run_stock(job: StockJob, emit: Emit) -> None:
    """One program in a forked child, compiled as torch does."""
    emit(StageEntered(stage="compile", seconds=300.0))
    compile_one(job.programs[0])


def run_batch(job: BatchJob, emit: Emit) -> None:
    """Programs that have nothing to do with each other, in one batch, judged too."""
    limits = Limits(load_s=60, eager_s=60, compile_s=300)
    run = RunJob(program=job.programs[0], limits=limits, configs=(DEFAULT_CONFIG,), variants=0, in_batches=True)
    reports: list[CellReport] = []

    def take(event: ChildEvent) -> None:
        if isinstance(event, CellReport):
            reports.append(event)
        else:
            emit(event)

    clock = StageTimer(emit)
    clock.enter("eager", 300.0)
    began = time.monotonic()
    subjects: list[LoadedVariant] = []
    for number, program in enumerate(job.programs):
        loaded = Loaded(program)
        calls = loaded.calls(0)
        subjects.append(LoadedVariant(number, original(program), loaded, calls, observe(loaded.instance, calls)))
    batches = BatchedCells(run, CellJudge(run, clock, subjects[0]), take)
    for subject in subjects:
        batches.add(subject, open_cells(run, subject.number))
    batches.finish()
    emit(
        BatchMeasured(
            verdicts=tuple(str(report.verdict.kind) for report in reports),
            erased=sum(report.erased for report in reports),
            account=clock.account(),
            kernels=batches.counts,
            seconds=time.monotonic() - began,
        )
    )


TARGET = JobTarget({StockJob: run_stock, BatchJob: run_batch})
