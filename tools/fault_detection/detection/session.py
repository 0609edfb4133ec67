"""A session of detection runs: all faults share the corpus, the clean run, the time and the store of kernels."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tools.fault_detection.corpus.catalogues import catalogue_programs
from tools.fault_detection.corpus.corpus import Entry, detection_seeds, generated_seeds, ordered, with_variants
from tools.fault_detection.detection.clean_run import CleanRunFile
from tools.fault_detection.detection.journal import DetectionJournal
from tools.fault_detection.detection.reach import ReplacedLines, replaced_by
from tools.fault_detection.detection.result import DetectionResult
from tools.fault_detection.detection.runner import DetectionRunner, Observations
from tools.fault_detection.detection.torch_defects import TorchDefects
from tools.fault_detection.fault import Fault

FIRST_SHARE = 0.6
"""Of an even share of the time, for the first attempt at a fault; faults that it misses get a second one."""

GRACE = 45.0
"""Seconds that an attempt may exceed its time for what it has started: a finding is confirmed in a fresh process."""


@dataclasses.dataclass(frozen=True)
class Options:
    """What a session runs, and with which limits.

    Attributes:
        seed: The random seed.
        seeds: Prefix of the names of the shipped seeds to run; empty: all; None: none.
        generated: Number of generated programs to run instead; 0: none.
        catalogues: Names of PyTorch's catalogues whose programs run too.
        limit: Wall seconds for each fault; None for an even share of the time.
        cells: Largest number of compiled cells for each fault; None for no limit.
        jobs: Faults run at once.
        journal: File of results that a later session reads; None for none.
    """

    seed: int = 0
    seeds: str | None = ""
    generated: int = 0
    catalogues: tuple[str, ...] = ()
    limit: float | None = None
    cells: int | None = None
    jobs: int = 1
    journal: Path | None = None


class TimeShares:
    """Divides the remaining time evenly among attempts that have not started; unused time is shared again."""

    def __init__(self, seconds: float, waiting: int, jobs: int) -> None:
        self._end = time.monotonic() + seconds
        self._waiting = waiting
        self._jobs = jobs
        self._lock = threading.Lock()

    def next_limit(self) -> float:
        """Seconds for the attempt that starts now, never past the end of all."""
        with self._lock:
            left = max(0.0, self._end - time.monotonic())
            rounds = max(1.0, self._waiting / self._jobs)
            self._waiting -= 1
            return left / rounds


@dataclasses.dataclass(frozen=True)
class RunContext:
    """What all detection runs of a session share.

    Attributes:
        entries: The programs in their order.
        seed: The random seed.
        folder: Folder of the session.
        torch_defects: Findings that torch has without a fault.
        stop: Set where no new cell is to be started.
        most_cells: Largest number of compiled cells for each fault; None for no limit.
        clean: Observations of the clean run; None before it.
        replaced: Lines of torch that each fault replaces, by its name.
    """

    entries: list[Entry]
    seed: int
    folder: Path
    torch_defects: TorchDefects
    stop: threading.Event
    most_cells: int | None
    clean: Observations | None = None
    replaced: Mapping[str, ReplacedLines] = dataclasses.field(default_factory=dict[str, ReplacedLines])

    def runner(self, fault: Fault | None, jobs: int = 1) -> DetectionRunner:
        name = fault.name if fault is not None else "none"
        most_cells = self.most_cells
        if fault is None and most_cells is not None:
            most_cells += most_cells // 4  # the order changes once the costs are known
        return DetectionRunner(
            fault,
            self.entries,
            self.seed,
            self.torch_defects,
            self.folder / "runs" / name,
            self.folder / "kernels",
            self.clean,
            self.replaced.get(name),
            jobs=jobs,
            most_cells=most_cells,
            stop=self.stop,
        )


def prepare(options: Options, folder: Path) -> RunContext:
    """Make the corpus below ``folder``. Raises CalledProcessError, UsageError, RunnerFailed, InternalError."""
    (folder / "kernels").mkdir()
    generated: list[Path] = []
    if options.generated:
        generated = generated_seeds(options.generated, options.seed, folder / "generated")
    if options.cells is not None and len(generated) >= options.cells:
        entries = [Entry(path) for path in generated]  # variants come after all seeds, past the limit
    elif generated or options.seeds is not None:
        entries = with_variants(generated or detection_seeds(options.seeds or ""), options.seed, folder)
    else:
        entries = []
    entries += catalogue_programs(options.catalogues, options.seed, folder / "catalogues")
    entries = ordered(entries, {}, options.seed)
    return RunContext(entries, options.seed, folder, TorchDefects(), threading.Event(), options.cells)


def run_clean(
    context: RunContext, faults: Sequence[Fault], options: Options, seconds: float
) -> tuple[RunContext, DetectionResult, bool]:
    """Run the corpus without a fault, or restore an earlier clean run of it.

    Returns the context with the programs ordered by what the clean run has observed, its result, and whether it was
    restored. ``faults`` are all that can be planted. Raises CalledProcessError.
    """
    runner = context.runner(None, jobs=len(os.sched_getaffinity(0)))
    replaced = replaced_by(faults)
    file = CleanRunFile(options.journal, context.entries, replaced.values())
    is_restored = file.restore(runner)
    if not is_restored:
        runner.attempt(seconds)
        file.save(runner)
    entries = ordered(context.entries, runner.observations.costs, options.seed)
    context = dataclasses.replace(context, entries=entries, clean=runner.observations, replaced=replaced)
    return context, runner.result, is_restored


def detect(
    faults: Sequence[Fault],
    context: RunContext,
    options: Options,
    end: float,
    journal: DetectionJournal,
    report: Callable[[DetectionResult], None],
) -> list[DetectionRunner]:
    """Attempt every fault until ``end``, and a second time those that the first attempt missed.

    With ``options.limit`` there is one attempt. ``report`` gets each result once it is complete, in any thread.
    """
    runners = [context.runner(fault) for fault in faults]
    first = FIRST_SHARE * (end - time.monotonic()) / max(1.0, len(faults) / options.jobs)

    def attempt(runner: DetectionRunner, seconds: float, *, is_last: bool) -> None:
        result = runner.attempt(seconds, max(0.0, min(GRACE, end - time.monotonic() - seconds)))
        if context.stop.is_set():
            return
        is_complete = result.is_detected or is_last
        journal.add(result, is_complete=is_complete)
        if is_complete:
            report(result)

    with ThreadPoolExecutor(options.jobs) as threads, _stop_on_error(context.stop):
        is_last = options.limit is not None
        limit = options.limit if options.limit is not None else first
        list(threads.map(lambda runner: attempt(runner, limit, is_last=is_last), runners))
        missed = [runner for runner in runners if not runner.result.is_detected and not is_last]
        shares = TimeShares(end - time.monotonic(), len(missed), options.jobs)
        list(threads.map(lambda runner: attempt(runner, shares.next_limit(), is_last=True), missed))
    return runners


def triage_all(
    runners: Sequence[DetectionRunner],
    jobs: int,
    journal: DetectionJournal,
    report: Callable[[DetectionResult], None],
) -> None:
    """Reduce and replay all detections. That is not part of the time for detection."""

    def triage(runner: DetectionRunner) -> None:
        result = runner.triage()
        journal.add(result)
        report(result)

    with ThreadPoolExecutor(jobs) as threads:
        list(threads.map(triage, [runner for runner in runners if runner.result.is_detected]))


@contextlib.contextmanager
def _stop_on_error(stop: threading.Event) -> Iterator[None]:
    """Stop all threads on an exception, Ctrl-C included, so that leaving the pool does not wait for them."""
    try:
        yield
    except BaseException:
        stop.set()
        raise
