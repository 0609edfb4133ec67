"""Runner of seeds: the rules, processes and caches that all seeds of a run or campaign share."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from eqfuzz.closeable import Closeable
from eqfuzz.events.event import Handler
from eqfuzz.events.self_check import SelfCheckStep
from eqfuzz.mutate.bucketing import Bucketer
from eqfuzz.mutate.seed_run import RunResources, SeedRun
from eqfuzz.mutate.self_check import quick_steps
from eqfuzz.mutate.settings import RewriteSettings, Settings
from eqfuzz.oracle.compare.single_result import ResultPlaces
from eqfuzz.rewrite.rules.rule import Rule
from eqfuzz.rewrite.rules.selection import select
from eqfuzz.rewrite.rules.user_rules import known_rules
from eqfuzz.run.kernels.cache_eviction import CacheEvictor
from eqfuzz.run.limits import Limits
from eqfuzz.run.processes.pool import Pool
from eqfuzz.triage.findings.finding import Finding
from eqfuzz.triage.findings.versions import versions


class SeedRunner(Closeable):
    """Runs seeds in one pool of processes; any thread may call ``seed_run``. A context manager; else call ``close``.

    ``rules`` are the names of the selected ones. Raises RunnerFailed where no process can be started.
    """

    def __init__(self, settings: Settings, rules: Sequence[str]) -> None:
        compiling = settings.compiling
        self.settings = settings
        self.rules = tuple(rules)
        self.environment = settings.environment()
        limits = Limits(compile_s=compiling.timeout)
        self.pool = Pool(
            self.environment,
            limits,
            runner="spawn" if compiling.runner == "spawn" else None,
            jobs=settings.jobs,
            cuda=compiling.uses_cuda,
            warm=not settings.dry_run,
        )
        self.versions = versions()
        self._resources = RunResources(self.rules, self.pool, self.environment, limits, self.versions)
        self._evictor = CacheEvictor(self.environment.caches())

    def close(self) -> None:
        """End all processes; seeds that are running fail with RunnerFailed."""
        self.pool.close()

    def self_check(self) -> Iterator[SelfCheckStep]:
        """The steps of the quick self-check; none with a preload, which may change results.

        Its kernels stay in the cache of the run.
        """
        if self.settings.compiling.preload is None:
            self.environment.keep_caches_here()
            yield from quick_steps(self.pool)

    def seed_run(
        self,
        index: int,
        path: Path,
        emit: Handler,
        stop: threading.Event,
        *,
        settings: Settings | None = None,
        bucketer: Bucketer | None = None,
        text: str | None = None,
        results: tuple[ResultPlaces, ...] = (),
        is_confirmed: Callable[[Finding], bool] | None = None,
    ) -> SeedRun:
        """A seed to be run with ``settings`` (default: those of the runner), see ``SeedRun``."""
        self._evictor.due()
        settings = settings or self.settings
        return SeedRun(
            index,
            path,
            settings,
            self._resources,
            emit,
            stop,
            bucketer=bucketer,
            text=text,
            results=results,
            is_confirmed=is_confirmed,
        )


def selected_rules(settings: RewriteSettings) -> list[Rule]:
    """The rules that ``settings`` select. Raises RuleError for ``rules_from``, ValueError for ``rules``."""
    return list(select(known_rules(settings.rules_from), settings.rules))


def failed_step(steps: Iterator[SelfCheckStep], emit: Handler) -> str:
    """Emit the steps up to the first one that fails, which is returned in words; empty if all pass."""
    for step in steps:
        emit(step)
        if not step.passed:
            return f"the self-check fails, so results would mean nothing: {step.step}: {step.detail}"
    return ""
