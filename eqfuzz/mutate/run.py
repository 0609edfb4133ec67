"""The run behind ``eqfuzz mutate``: every seed of a list once, with one summary."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from eqfuzz.errors import UsageError
from eqfuzz.events.event import Event, Handler
from eqfuzz.events.run import RunStarted, SeedDone, Summary
from eqfuzz.mutate.bucketing import Bucketer
from eqfuzz.mutate.counters import RunCounters
from eqfuzz.mutate.parallel import Ending, run_all
from eqfuzz.mutate.seed_run import InternalError, OutOfTime
from eqfuzz.mutate.seed_runner import SeedRunner, failed_step, selected_rules
from eqfuzz.mutate.settings import Settings
from eqfuzz.program.pools.seed_files import seed_files
from eqfuzz.program.provenance import provenance_of
from eqfuzz.rewrite.rules.rule import RuleError
from eqfuzz.run.environment import Environment
from eqfuzz.run.limits import used_cpu_seconds
from eqfuzz.run.sandbox.launcher import SandboxUnavailable, require_level
from eqfuzz.triage.findings.known_issues import read_known_issues


def run(settings: Settings, handler: Handler) -> Summary:
    """Run all seeds and hand every event to ``handler``, one at a time; the last is the returned summary.

    Ctrl-C ends the run early with a partial summary. Raises UsageError, and RunnerFailed when no process
    that imports torch can be started.
    """
    paths = seed_files(settings.paths)
    rules = rule_names(settings)
    check_folders(settings)
    require_sandbox(paths, untrusted=settings.untrusted, unsafe=settings.unsafe)
    try:
        bucketer = Bucketer(settings.out.resolve(), read_known_issues(settings.known_issues))
    except ValueError as error:
        raise UsageError(str(error)) from None
    with SeedRunner(settings, rules) as runner:
        summary = _BoundedRun(runner, paths, bucketer, handler).run()
    if settings.dry_run:
        remove_empty_folders(runner.environment)
    return summary


def remove_empty_folders(environment: Environment) -> None:
    """Remove what a run in which nothing compiles leaves of its folders for caches and temporary files."""
    for top in (environment.caches(), environment.temporary_dir()):
        for folder in sorted((top, *(path for path in top.rglob("*") if path.is_dir())), reverse=True):
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()
    if environment.out.is_dir() and not any(environment.out.iterdir()):
        environment.out.rmdir()


def rule_names(settings: Settings) -> list[str]:
    """The names of the selected rules. Raises UsageError."""
    try:
        return [rule.name for rule in selected_rules(settings.rewriting)]
    except RuleError as error:
        raise UsageError(f"--rules-from: {error}") from None
    except ValueError as error:
        raise UsageError(f"--rules: {error}") from None


def check_folders(settings: Settings) -> None:
    """Make the folder of the run. Raises UsageError, also for a preload that is missing."""
    preload = settings.compiling.preload
    if preload is not None and not preload.is_file():
        raise UsageError(f"--preload: {preload}: no such file")
    try:
        settings.out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--out: {settings.out}: {error.strerror}") from None


def require_sandbox(paths: Sequence[Path], *, untrusted: bool, unsafe: bool) -> None:
    """Raises UsageError if there is no sandbox for untrusted seeds: all of them, or files that are marked so."""
    if unsafe or not (untrusted or any(map(_is_untrusted, paths))):
        return
    try:
        require_level()
    except SandboxUnavailable as error:
        raise UsageError(str(error)) from None


def _is_untrusted(path: Path) -> bool:
    """Whether the seed file is marked as untrusted; False for an unreadable file, which is reported when it runs."""
    try:
        provenance = provenance_of(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return provenance is not None and provenance.untrusted


PATHS_NAMED = 20
"""Paths of settings that the first event names."""

MANY_SEEDS = 24
LONG_SECONDS = 600.0
"""A run with so many seeds, or with so large a time budget, starts with the quick self-check."""


class _BoundedRun:
    """Every seed of a list once, with one summary: a campaign without store, epochs and feedback."""

    def __init__(self, runner: SeedRunner, paths: list[Path], bucketer: Bucketer, handler: Handler) -> None:
        self._runner = runner
        self._settings = runner.settings
        self._paths = paths
        self._bucketer = bucketer
        self._handler = handler
        self._counters = RunCounters()
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._left = dict(enumerate(paths))
        """Seeds that are not completed."""
        self._began = time.monotonic()
        self._cpu_before = used_cpu_seconds()
        budget = self._settings.time
        self._deadline = self._began + budget if budget is not None else math.inf

    def run(self) -> Summary:
        settings, runner = self._settings, self._runner
        self._emit(
            RunStarted(
                seed=settings.seed,
                seeds=len(self._paths),
                strategy=settings.rewriting.strategy,
                rules=len(runner.rules),
                devices=list(settings.compiling.devices),
                configs=[config.name for config in settings.configs],
                jobs=settings.jobs,
                runner=settings.compiling.runner,
                out=str(settings.out),
                versions=runner.versions,
                paths=[str(path) for path in settings.paths[:PATHS_NAMED]],
            )
        )
        ending = run_all(runner.pool, self._work(), self._stop, jobs=settings.jobs, deadline=self._deadline)
        counters = self._counters
        if settings.compiling.preload is None:
            counters.gone = self._bucketer.gone_issues()
            if not settings.untrusted:  # else the sandbox may be the cause
                counters.errors += counters.invalid.broken_installation(runner.versions["torch"])
        summary = counters.summary(
            seed=settings.seed,
            interrupted=ending is Ending.INTERRUPTED,
            out_of_time=ending is Ending.OUT_OF_TIME,
            left_out=[str(path) for path in self._left.values()],
            seconds=time.monotonic() - self._began,
            cpu_seconds=used_cpu_seconds() - self._cpu_before,
        )
        self._handler(summary)
        return summary

    def _work(self) -> Iterator[Callable[[], None]]:
        """One call per seed, in a long run beside the self-check."""
        settings = self._settings
        is_long = len(self._paths) >= MANY_SEEDS or (settings.time or 0.0) >= LONG_SECONDS
        if is_long and not settings.dry_run:
            yield self._check_oracle
        for index, path in enumerate(self._paths):
            yield partial(self._run_seed, index, path)

    def _check_oracle(self) -> None:
        """End the run if the self-check fails."""
        problem = failed_step(self._runner.self_check(), self._emit)
        if problem and not self._stop.is_set():  # else the pool was closed before it could pass
            with self._lock:
                self._counters.errors.append(problem)
            self._stop.set()

    def _run_seed(self, index: int, path: Path) -> None:
        if self._stop.is_set():
            return
        try:
            self._runner.seed_run(index, path, self._emit, self._stop, bucketer=self._bucketer).run()
        except OutOfTime:
            return
        except InternalError as error:
            if self._stop.is_set():
                return
            self._save_error(index, error)

    def _save_error(self, index: int, error: InternalError) -> None:
        folder = self._runner.environment.out / "errors"
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"seed-{index}.txt"
        file.write_text(f"{error}\n\n{error.details}\n", encoding="utf-8")
        with self._lock:
            self._counters.errors.append(f"{error} (details in {file})")
            self._left.pop(index)

    def _emit(self, event: Event) -> None:
        with self._lock:
            if self._stop.is_set():
                return  # events after the end belong to interrupted seeds
            if isinstance(event, SeedDone):
                self._left.pop(event.index)
            self._counters.count_event(event)
            self._bucketer.note_event(event)
            self._handler(event)
