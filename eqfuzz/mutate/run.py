"""The bounded campaign behind ``eqfuzz mutate``: every seed once, all its variants, one summary."""

from __future__ import annotations

import resource
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from eqfuzz.errors import UsageError
from eqfuzz.events.event import Event, Handler
from eqfuzz.events.run import RunStarted, Summary
from eqfuzz.mutate.bucketing import Bucketer
from eqfuzz.mutate.counters import RunCounters
from eqfuzz.mutate.parallel import all_through
from eqfuzz.mutate.seed_run import InternalError, OutOfTime, SeedRun
from eqfuzz.mutate.self_check import quick_steps
from eqfuzz.mutate.settings import Settings
from eqfuzz.program.provenance import provenance_of
from eqfuzz.rewrite.rules.library import select
from eqfuzz.rewrite.rules.rule import RuleError
from eqfuzz.rewrite.rules.user_rules import known_rules
from eqfuzz.run.environment import Environment
from eqfuzz.run.kernels.cache_eviction import CacheEvictor
from eqfuzz.run.limits import Limits
from eqfuzz.run.processes.pool import Pool
from eqfuzz.run.sandbox.launcher import SandboxUnavailable, require_level
from eqfuzz.triage.findings.known_issues import read_known_issues
from eqfuzz.triage.findings.versions import versions


def run(settings: Settings, handler: Handler) -> Summary:
    """Run all seeds and hand every event to ``handler``, one at a time; the last is the returned summary.

    Ctrl-C ends the run early with a partial summary. Raises UsageError, and RunnerFailed when no process
    that imports torch can be started.
    """
    paths = seed_files(settings.paths)
    try:
        rules = tuple(r.name for r in select(known_rules(settings.rules_from), settings.rules))
    except RuleError as error:
        raise UsageError(f"--rules-from: {error}") from None
    except ValueError as error:
        raise UsageError(f"--rules: {error}") from None
    environment = _environment(settings)
    require_sandbox(paths, untrusted=settings.untrusted, unsafe=settings.unsafe)
    try:
        sorting = Bucketer(environment.out, read_known_issues(settings.known_issues))
    except ValueError as error:
        raise UsageError(str(error)) from None
    return _Run(settings, paths, rules, environment, sorting, handler).run()


def seed_files(paths: Sequence[Path]) -> list[Path]:
    """Every Python file named or below a named folder, in order, once. Raises UsageError."""
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = sorted(p for p in path.rglob("*.py") if "__pycache__" not in p.parts)
            if not inside:
                raise UsageError(f"{path}: no Python files in this folder")
            found += inside
        elif path.exists():
            found.append(path)
        else:
            raise UsageError(f"{path}: no such file or folder")
    return list(dict.fromkeys(found))


def _environment(settings: Settings) -> Environment:
    if settings.preload is not None and not settings.preload.is_file():
        raise UsageError(f"--preload: {settings.preload}: no such file")
    try:
        settings.out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--out: {settings.out}: {error.strerror}") from None
    preload = settings.preload.resolve() if settings.preload else None
    shown = tuple(path.absolute() for path in settings.rules_from)
    return Environment(settings.out.resolve(), preload, shown=shown, unsafe=settings.unsafe)


def require_sandbox(paths: Sequence[Path], *, untrusted: bool, unsafe: bool) -> None:
    """Raises UsageError where what is not trusted (everything, or files that say so) would find no sandbox."""
    if unsafe or not (untrusted or any(map(_is_untrusted, paths))):
        return
    try:
        require_level()
    except SandboxUnavailable as error:
        raise UsageError(str(error)) from None


def _is_untrusted(path: Path) -> bool:
    """Whether the seed file says so; what cannot be read says nothing, and is told of when its turn comes."""
    try:
        provenance = provenance_of(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return provenance is not None and provenance.untrusted


MANY_SEEDS = 24
LONG_TIME = 600.0
"""From this many seeds, or seconds asked for, a run is long: the oracle is checked before."""


class _Run:
    def __init__(
        self,
        settings: Settings,
        paths: list[Path],
        rules: tuple[str, ...],
        environment: Environment,
        sorting: Bucketer,
        handler: Handler,
    ) -> None:
        self.settings = settings
        self.paths = paths
        self.rules = rules
        self.environment = environment
        self.sorting = sorting
        self.handler = handler
        self.tally = RunCounters()
        self.stop = threading.Event()
        self.out_of_time = False
        self.lock = threading.Lock()
        self.began = time.monotonic()
        self.cpu_before = _cpu_seconds()
        self.deadline = self.began + settings.time if settings.time is not None else None
        self.versions = versions()
        self.pruning = CacheEvictor(environment.caches())

    def run(self) -> Summary:
        settings = self.settings
        self._emit(
            RunStarted(
                seed=settings.seed,
                seeds=len(self.paths),
                strategy=settings.strategy,
                rules=len(self.rules),
                devices=list(settings.devices),
                configs=[c.name for c in settings.configs],
                jobs=settings.jobs,
                runner=settings.runner,
                out=str(settings.out),
                versions=self.versions,
            )
        )
        limits = Limits(compile_s=settings.compile_seconds)
        cuda = "cuda" in settings.devices
        runner = "spawn" if settings.runner == "spawn" else None
        warm = not settings.dry_run
        with Pool(self.environment, limits, runner=runner, jobs=settings.jobs, cuda=cuda, warm=warm) as pool:
            interrupted = all_through(pool, self._work(pool, limits), self.stop, jobs=settings.jobs)
        if self.environment.preload is None:
            self.tally.gone = self.sorting.gone()
            if not settings.untrusted:  # else the sandbox may be the cause
                self.tally.errors += self.tally.invalid.broken_installation(self.versions["torch"])
        summary = self.tally.summary(
            seed=settings.seed,
            interrupted=interrupted,
            out_of_time=self.out_of_time,
            seconds=time.monotonic() - self.began,
            cpu_seconds=_cpu_seconds() - self.cpu_before,
        )
        self.handler(summary)
        return summary

    def _oracle_is_trusted(self, pool: Pool) -> bool:
        """The quick self-check before a long run; not where the user changes the compiler by a preload."""
        settings = self.settings
        long = len(self.paths) >= MANY_SEEDS or (settings.time or 0.0) >= LONG_TIME
        if settings.dry_run or settings.preload is not None or not long:
            return True
        self.environment.keep_caches_here()
        for step in quick_steps(pool):
            self._emit(step)
            if not step.passed:
                self.tally.errors.append(f"the self-check fails, so nothing was run: {step.step}: {step.detail}")
                return False
        return True

    def _work(self, pool: Pool, limits: Limits) -> Iterator[Callable[[], None]]:
        """One piece per seed; none where the oracle is not to be trusted."""
        if self._oracle_is_trusted(pool):
            yield from (partial(self._run_seed, i, path, pool, limits) for i, path in enumerate(self.paths))

    def _run_seed(self, index: int, path: Path, pool: Pool, limits: Limits) -> None:
        if self.stop.is_set() or (self.deadline is not None and time.monotonic() > self.deadline):
            self.out_of_time = self.out_of_time or not self.stop.is_set()
            return
        self.pruning.due()
        seed = SeedRun(
            index=index,
            path=path,
            settings=self.settings,
            rules=self.rules,
            pool=pool,
            environment=self.environment,
            limits=limits,
            versions=self.versions,
            emit=self._emit,
            stop=self.stop,
            deadline=self.deadline,
            sorting=self.sorting,
        )
        try:
            seed.run()
        except OutOfTime:
            self.out_of_time = self.out_of_time or not self.stop.is_set()
        except InternalError as error:
            if not self.stop.is_set():
                self._keep_error(index, error)

    def _keep_error(self, index: int, error: InternalError) -> None:
        folder = self.environment.out / "errors"
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"seed-{index}.txt"
        file.write_text(f"{error}\n\n{error.details}\n", encoding="utf-8")
        with self.lock:
            self.tally.errors.append(f"{error} (details in {file})")

    def _emit(self, event: Event) -> None:
        with self.lock:
            if self.stop.is_set():
                return  # what comes after Ctrl-C belongs to cases that were cut off
            self.tally.count(event)
            self.sorting.count(event)
            self.handler(event)


def _cpu_seconds() -> float:
    """CPU seconds of this process and of every process below it that has ended."""
    usages = (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)
