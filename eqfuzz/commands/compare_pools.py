"""Comparison of ``eqfuzz compare``: pools of seeds are mutated and judged for the same CPU time each."""

from __future__ import annotations

import dataclasses
import json
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from eqfuzz.commands.journal import Journal
from eqfuzz.errors import UsageError
from eqfuzz.events.comparison import CaseCompared, CaseStarted, ComparisonStarted, ComparisonSummary, PoolFigures
from eqfuzz.events.event import Event, Handler
from eqfuzz.events.run import CellJudged, FindingReported, LinesCovered, SeedDone, SeedInvalid, SeedRewritten
from eqfuzz.mutate.bucketing import Bucketer
from eqfuzz.mutate.parallel import Ending, run_all
from eqfuzz.mutate.run import check_folders, require_sandbox, rule_names
from eqfuzz.mutate.seed_run import InternalError, OutOfTime
from eqfuzz.mutate.seed_runner import SeedRunner
from eqfuzz.mutate.settings import Settings
from eqfuzz.oracle.compare.verdict import FINDINGS, VerdictKind
from eqfuzz.program.pools.seed_files import seed_files
from eqfuzz.program.shipped import folder
from eqfuzz.run.coverage.torch_baseline import Bitmaps, count, from_hex, merge
from eqfuzz.triage.findings.known_issues import read_known_issues

JOURNAL = "compare.jsonl"
DEFAULT = "default"
"""The name of the shipped seeds as a pool."""

CRASHES = (VerdictKind.PROCESS_CRASH, VerdictKind.HANG, VerdictKind.OUT_OF_MEMORY)
"""Kinds of verdict in which a process has died; shown apart."""


@dataclasses.dataclass(frozen=True)
class ComparedPool:
    """A pool by its ``name``, with its ``seeds``."""

    name: str
    seeds: tuple[Path, ...]


def compared_pools(names: Sequence[str]) -> list[ComparedPool]:
    """The pools of folders and files, and of the shipped seeds (``default``). Raises UsageError."""
    if len(set(names)) != len(names):
        raise UsageError("--pool: a pool is named twice")
    paths = {name: folder("seeds") if name == DEFAULT and not Path(name).exists() else Path(name) for name in names}
    return [ComparedPool(name, tuple(seed_files([path]))) for name, path in paths.items()]


def compare_pools(
    settings: Settings, pools: Sequence[ComparedPool], budget: float, handler: Handler
) -> ComparisonSummary:
    """Run the pools in turn until each has used ``budget`` CPU seconds; the last event is returned.

    The pool that has used least is next. Each round takes every seed of a pool once, with another random seed for its
    variants. Cases of earlier calls with the same ``settings.out`` count. Ctrl-C ends it early with the figures so far.
    Raises UsageError, and RunnerFailed when no process can be started.
    """
    began = time.monotonic()
    rules = rule_names(settings)
    check_folders(settings)
    require_sandbox([p for pool in pools for p in pool.seeds], untrusted=settings.untrusted, unsafe=settings.unsafe)
    try:
        bucketer = Bucketer(settings.out.resolve(), read_known_issues(settings.known_issues))
    except ValueError as error:
        raise UsageError(str(error)) from None
    settings = dataclasses.replace(settings, traced=True)
    journal = Journal(settings.out / JOURNAL)
    with SeedRunner(settings, rules) as runner:
        comparison = _PoolComparison(runner, pools, budget, bucketer, journal, handler)
        handler(comparison.started())
        calls = [comparison.work] * settings.jobs
        ending = run_all(runner.pool, calls, comparison.stop, jobs=settings.jobs)
    summary = comparison.summary(ending, round(time.monotonic() - began, 3))
    handler(summary)
    return summary


@dataclasses.dataclass(frozen=True)
class _Case:
    """A ``seed`` of a pool in a round; ``key`` is its place in the journal."""

    index: int
    pool: ComparedPool
    seed: Path
    turn: int
    key: str

    @property
    def round(self) -> int:
        return self.turn // len(self.pool.seeds)


class _PoolState:
    """What a pool has come to, and which seed is its next."""

    def __init__(self) -> None:
        self.next = 0
        self.waiting = 0
        self.invalid: set[Path] = set()
        self.failed: set[Path] = set()
        """Invalid seeds, and those that eqfuzz itself failed on; they run once."""
        self.seeds: set[Path] = set()
        self.programs = 0
        self.cells = 0
        self.lines: Bitmaps = {}
        self.defective: Counter[str] = Counter()
        self.buckets: set[str] = set()
        self.known: set[str] = set()
        self.spent = 0.0
        self.is_exhausted = False
        self.coverage: list[tuple[float, int]] = [(0.0, 0)]
        self.findings: list[tuple[float, int, int]] = [(0.0, 0, 0)]

    def count(self, seed: Path, entry: Mapping[str, Any]) -> int:
        """Count a case; returns the number of its new lines."""
        self.seeds.add(seed)
        if entry["invalid"]:
            self.invalid.add(seed)
        if entry["invalid"] or entry["error"]:
            self.failed.add(seed)
        self.programs += entry["programs"]
        self.cells += entry["cells"]
        self.defective.update(entry["defective"])
        self.buckets.update(entry["buckets"])
        self.known.update(entry["known"])
        self.spent += entry["cpu_seconds"]
        new = count(merge(self.lines, from_hex(entry["lines"])))
        crashes = sum(self.defective[kind] for kind in CRASHES)
        self.coverage.append((round(self.spent, 3), count(self.lines)))
        self.findings.append((round(self.spent, 3), self.defective.total(), crashes))
        return new


class _PoolComparison:
    def __init__(
        self,
        runner: SeedRunner,
        pools: Sequence[ComparedPool],
        budget: float,
        bucketer: Bucketer,
        journal: Journal,
        handler: Handler,
    ) -> None:
        self.stop = threading.Event()
        self._runner = runner
        self._pools = pools
        self._budget = budget
        self._bucketer = bucketer
        self._journal = journal
        self._handler = handler
        self._lock = threading.Lock()
        self._states = {pool.name: _PoolState() for pool in pools}
        self._errors: list[str] = []
        self._cases = 0
        self._resume()

    def started(self) -> ComparisonStarted:
        settings = self._runner.settings
        return ComparisonStarted(
            seed=settings.seed,
            pools={pool.name: len(pool.seeds) for pool in self._pools},
            budget=self._budget,
            spent={name: round(state.spent, 3) for name, state in self._states.items()},
            strategy=settings.rewriting.strategy,
            configs=[config.name for config in settings.configs],
            jobs=settings.jobs,
            out=str(settings.out),
            versions=self._runner.versions,
        )

    def work(self) -> None:
        """Run one case after the other until no pool has time left."""
        while (case := self._next()) is not None:
            self._run(case)

    def summary(self, ending: Ending, seconds: float) -> ComparisonSummary:
        return ComparisonSummary(
            pools={name: self._figures(name) for name in self._states},
            coverage={name: state.coverage for name, state in self._states.items()},
            findings={name: state.findings for name, state in self._states.items()},
            exhausted=[name for name, state in self._states.items() if state.is_exhausted],
            errors=self._errors,
            interrupted=ending is Ending.INTERRUPTED,
            seconds=seconds,
        )

    def _figures(self, name: str) -> PoolFigures:
        state = self._states[name]
        others: Bitmaps = {}
        for other in self._states.values():
            if other is not state:
                merge(others, other.lines)
        return PoolFigures(
            seeds=len(state.seeds),
            invalid=len(state.invalid),
            programs=state.programs,
            cells=state.cells,
            lines=count(state.lines),
            only=count(merge(others, state.lines)),
            defective=dict(sorted(state.defective.items())),
            buckets=len(state.buckets),
            known=len(state.known),
            cpu_seconds=round(state.spent, 3),
        )

    def _resume(self) -> None:
        """Count the cases that the journal has of these pools, in their order."""
        for pool in self._pools:
            state = self._states[pool.name]
            while (case := self._turn(pool)) is not None and case.key in self._journal:
                state.next += 1
                self._count(case, self._journal.get(case.key, dict))

    def _count(self, case: _Case, entry: Mapping[str, Any]) -> int:
        """Count a case of this or an earlier call; returns the number of its new lines."""
        self._errors += [entry["error"]] if entry["error"] else []
        return self._states[case.pool.name].count(case.seed, entry)

    def _next(self) -> _Case | None:
        """The next case of the pool that has used least, None where all have used their time."""
        with self._lock:
            if self.stop.is_set():
                return None
            for pool in sorted(self._pools, key=lambda pool: self._expected(self._states[pool.name])):
                state = self._states[pool.name]
                if self._expected(state) >= self._budget:
                    continue
                case = self._turn(pool)
                if case is None:
                    state.is_exhausted = True
                    continue
                state.next += 1
                state.waiting += 1
                self._cases += 1
                self._handler(CaseStarted(index=case.index, pool=pool.name, seed=str(case.seed)))
                return case
            return None

    @staticmethod
    def _expected(state: _PoolState) -> float:
        """CPU seconds of a pool with those of cases that are running, which are taken to be like earlier ones."""
        done = len(state.coverage) - 1
        return state.spent + state.waiting * (state.spent / done if done else 0.0)

    def _turn(self, pool: ComparedPool) -> _Case | None:
        """The next case of a pool; None where there is none, since nothing of its seeds is left to be drawn."""
        state, settings = self._states[pool.name], self._runner.settings
        is_repeatable = settings.rewriting.strategy == "random" and settings.rewriting.variants > 0
        while state.next < len(pool.seeds) or (is_repeatable and len(state.failed) < len(pool.seeds)):
            seed = pool.seeds[state.next % len(pool.seeds)]
            if seed not in state.failed:
                key = json.dumps([pool.name, str(seed), state.next, self._settings_key()])
                return _Case(self._cases, pool, seed, state.next, key)
            state.next += 1
        return None

    def _settings_key(self) -> list[Any]:
        settings = self._runner.settings
        names = [config.name for config in settings.configs]
        return [
            settings.seed,
            names,
            list(settings.checks),
            settings.judging.steps,
            settings.rewriting.model_dump(mode="json"),
        ]

    def _run(self, case: _Case) -> None:
        entry: dict[str, Any] = {
            "invalid": "",
            "programs": 0,
            "cells": 0,
            "defective": Counter(),
            "buckets": [],
            "known": [],
            "cpu_seconds": 0.0,
            "lines": {},
            "error": "",
        }
        settings = self._runner.settings
        if case.round:
            settings = dataclasses.replace(
                settings,
                seed=settings.seed + case.round,
                guard_steps=0,
                own_random=False,
            )
        try:
            self._runner.seed_run(
                case.index,
                case.seed,
                lambda event: _add(entry, event),
                self.stop,
                settings=settings,
                bucketer=self._bucketer,
            ).run()
        except OutOfTime:
            return
        except InternalError as error:
            entry["error"] = f"{case.seed}: {error}"
        with self._lock:
            if self.stop.is_set():
                return  # the case was interrupted
            state = self._states[case.pool.name]
            state.waiting -= 1
            self._journal.add(case.key, entry)
            new = self._count(case, entry)
            self._handler(
                CaseCompared(
                    index=case.index,
                    pool=case.pool.name,
                    seed=str(case.seed),
                    new=new,
                    findings=sum(entry["defective"].values()),
                    problem=entry["invalid"] or entry["error"],
                    spent=round(state.spent, 3),
                )
            )


def _add(entry: dict[str, Any], event: Event) -> None:
    """Count an event of a case."""
    match event:
        case SeedInvalid():
            entry["invalid"] = event.reason
        case SeedRewritten():
            entry["programs"] += 1 + event.variants
        case CellJudged() if event.config:
            entry["cells"] += 1
            if event.verdict.kind in FINDINGS or event.verdict.kind is VerdictKind.SLOW:
                entry["defective"][str(event.verdict.kind)] += 1
        case FindingReported():
            entry["known" if event.issue else "buckets"].append(event.issue or event.bucket or event.finding.id)
        case LinesCovered():
            entry["lines"] = event.files
        case SeedDone():
            entry["cpu_seconds"] += event.cpu_seconds
        case _:
            pass
