"""Measurement of ``eqfuzz coverage``: which statements of torch's Python files programs run."""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from eqfuzz.atomic_file import replacement_of
from eqfuzz.commands.coverage_sources import PlannedProgram
from eqfuzz.commands.journal import Journal
from eqfuzz.errors import UsageError
from eqfuzz.events.coverage import CoverageCount, CoverageStarted, CoverageSummary, ProgramCovered, TraceStarted
from eqfuzz.events.event import Handler
from eqfuzz.mutate.parallel import Ending, run_all
from eqfuzz.mutate.run import check_folders, require_sandbox, rule_names
from eqfuzz.mutate.seed_run import InternalError
from eqfuzz.mutate.settings import Settings
from eqfuzz.program.pools.seed_files import seed_files
from eqfuzz.program.program import InvalidSeed, Program
from eqfuzz.program.release import this_release
from eqfuzz.run.configs.named import Config
from eqfuzz.run.coverage.torch_baseline import Bitmaps, TorchBaseline, count, from_hex, merge
from eqfuzz.run.limits import Limits
from eqfuzz.run.messages.coverage_jobs import TraceJob
from eqfuzz.run.messages.job import ChildExit, Job, ProgramInvalid, StageEntered
from eqfuzz.run.messages.seed_jobs import LinesTraced, RunJob
from eqfuzz.run.processes.exit_reasons import death_in_words
from eqfuzz.run.processes.pool import Pool
from eqfuzz.torch_internals.source_tree import COMPILER
from eqfuzz.triage.findings.versions import versions

JOURNAL = "coverage.jsonl"
BASELINE = "torch-baseline.json"


def measure_coverage(settings: Settings, programs: Sequence[PlannedProgram], handler: Handler) -> CoverageSummary:
    """Trace every program that no earlier call with the same ``settings.out`` has traced; the last event is returned.

    The configurations alternate from program to program. Ctrl-C and the time limit end it early with the figures so
    far. Raises UsageError, RunnerFailed when no process can be started, InternalError for a defect of eqfuzz.
    """
    began = time.monotonic()
    rules = rule_names(settings)
    check_folders(settings)
    files = seed_files(settings.paths) if settings.paths else []
    require_sandbox(files, untrusted=settings.untrusted, unsafe=settings.unsafe)
    baseline = _baseline(settings)
    measurement = _CoverageMeasurement(settings, rules, baseline, Journal(settings.out / JOURNAL), handler)
    planned = list(zip(programs, itertools.cycle(settings.configs), strict=False))
    wanted = [one for one in planned if not measurement.has(*one)]
    handler(
        CoverageStarted(
            seed=settings.seed,
            programs=len(planned),
            earlier=len(planned) - len(wanted),
            sources=list(dict.fromkeys(program.source for program in programs)),
            configs=[config.name for config in settings.configs],
            strategy=settings.rewriting.strategy,
            jobs=settings.jobs,
            out=str(settings.out),
            versions=versions(),
        )
    )
    stop = threading.Event()
    with Pool(settings.environment(), measurement.limits, jobs=settings.jobs) as pool:
        calls = (partial(measurement.trace, pool, stop, index, *one) for index, one in enumerate(wanted))
        deadline = math.inf if settings.time is None else began + settings.time
        ending = run_all(pool, calls, stop, jobs=settings.jobs, deadline=deadline) if wanted else Ending.DONE
    summary = measurement.summary(ending, round(time.monotonic() - began, 3))
    handler(summary)
    return summary


def _baseline(settings: Settings) -> TorchBaseline:
    """That of ``settings.out``, measured if there is none. Raises UsageError where that is another torch's."""
    file = settings.out.resolve() / BASELINE
    if not file.exists():
        environment = settings.environment()
        for folder in (environment.temporary_dir(), environment.cache_dir()):
            folder.mkdir(parents=True, exist_ok=True)
        with replacement_of(file) as partial_file:
            command = [sys.executable, "-m", "eqfuzz.run.coverage.torch_baseline"]
            command += [Job.TARGET, str(environment.temporary_dir()), str(partial_file)]
            ran = subprocess.run(command, env=environment.variables(cuda=False), capture_output=True, text=True)
            if ran.returncode:
                problem = f"torch cannot be imported under coverage.py: exit code {ran.returncode}"
                raise InternalError(problem, ran.stderr)
    try:
        baseline = TorchBaseline.from_json(json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(f"--out: {file}: cannot be read: {error}; remove it") from None
    if baseline.versions != this_release().to_versions():
        raise UsageError(f"--out: {settings.out} has figures of another torch; choose another folder")
    return baseline


class _CoverageMeasurement:
    """The statements that each source has covered, and all together; every program is in the journal at once."""

    def __init__(
        self, settings: Settings, rules: Sequence[str], baseline: TorchBaseline, journal: Journal, handler: Handler
    ) -> None:
        self.limits = Limits(compile_s=settings.compiling.timeout)
        self._settings = settings
        self._rules = tuple(rules)
        self._baseline = baseline
        self._journal = journal
        self._handler = handler
        self._lock = threading.Lock()
        self._started = dict(baseline.imported)
        merge(self._started, baseline.started)
        self._all = dict(self._started)
        self._sources: dict[str, Bitmaps] = {}
        self._programs: dict[str, int] = {}
        self._curves: dict[str, list[tuple[int, int]]] = {"": [(0, count(self._all))]}
        self._problems = 0
        for _, entry in journal:
            self._count(entry["source"], from_hex(entry["statements"]), entry["problem"])

    def has(self, program: PlannedProgram, config: Config) -> bool:
        """Whether it is in the journal."""
        return self._key(program, config) in self._journal

    def trace(self, pool: Pool, stop: threading.Event, index: int, planned: PlannedProgram, config: Config) -> None:
        """Trace one program and count it. Raises InternalError where the child fails by a defect of eqfuzz."""
        if stop.is_set():
            return
        began = time.monotonic()
        with self._lock:
            self._handler(TraceStarted(index=index, program=planned.name))
        lines: Bitmaps = {}
        try:
            problem = self._run(pool, planned.make(), config, lines)
        except InvalidSeed as error:
            problem = error.reason
        with self._lock:
            if stop.is_set():
                return  # the program was interrupted
            seconds = round(time.monotonic() - began, 3)
            before = count(self._all)
            new = merge(dict(self._of(planned.source)), self._baseline.statements_in(lines))
            entry = {
                "source": planned.source,
                "problem": problem,
                "seconds": seconds,
                "statements": {file: f"{bits:x}" for file, bits in new.items()},
            }
            self._journal.add(self._key(planned, config), entry)
            self._count(planned.source, new, problem)
            covered = count(self._all)
            self._handler(
                ProgramCovered(
                    index=index,
                    source=planned.source,
                    program=planned.name,
                    config=config.name,
                    new=covered - before,
                    covered=covered,
                    problem=problem,
                    seconds=seconds,
                )
            )

    def summary(self, ending: Ending, seconds: float) -> CoverageSummary:
        """The figures so far."""
        sources = {name: self._figures(self._programs[name], bits) for name, bits in self._sources.items()}
        return CoverageSummary(
            statements=self._figures(0, self._baseline.statements),
            imported=self._figures(0, self._baseline.imported),
            started=self._figures(0, self._started),
            sources=sources,
            together=self._figures(sum(self._programs.values()), self._all),
            curves=self._curves,
            problems=self._problems,
            interrupted=ending is Ending.INTERRUPTED,
            out_of_time=ending is Ending.OUT_OF_TIME,
            seconds=seconds,
        )

    def _run(self, pool: Pool, program: Program, config: Config, lines: Bitmaps) -> str:
        """Add the lines that the program runs; returns why they are not all of it, if so."""
        program = dataclasses.replace(program, untrusted=program.untrusted or self._settings.untrusted)
        stage, problem = "start", ""
        for event in pool.stream(self._job(program, config)):
            match event:
                case StageEntered():
                    stage = event.stage
                case ProgramInvalid():
                    problem = event.reason
                case LinesTraced():
                    merge(lines, from_hex(event.files))
                case ChildExit() if event.reason == "error" and not program.untrusted:
                    raise InternalError(f"{program.name}: {event.detail}", event.output)
                case ChildExit() if event.reason != "done":
                    problem = death_in_words(stage, event.reason, event.detail)
                case _:
                    pass
        return problem

    def _job(self, program: Program, config: Config) -> TraceJob:
        rewriting = self._settings.rewriting
        return TraceJob(
            run=RunJob(
                program=program,
                seed=self._settings.seed,
                limits=self.limits,
                configs=(config,),
                rules=self._rules,
                rules_from=tuple(str(path.absolute()) for path in rewriting.rules_from),
                strategy=rewriting.strategy,
                depth=rewriting.depth,
                variants=rewriting.variants,
                steps=self._settings.judging.steps,
            )
        )

    def _key(self, program: PlannedProgram, config: Config) -> str:
        rewriting: Mapping[str, Any] = self._settings.rewriting.model_dump(mode="json")
        under = {"seed": self._settings.seed, "steps": self._settings.judging.steps, "rewriting": rewriting}
        return json.dumps([program.source, program.name, program.digest, config.name, under], sort_keys=True)

    def _of(self, source: str) -> Bitmaps:
        """What a source has covered; at first what the start of any process has."""
        if source not in self._sources:
            self._sources[source] = dict(self._started)
            self._programs[source] = 0
            self._curves[source] = [(0, count(self._started))]
        return self._sources[source]

    def _count(self, source: str, new: Mapping[str, int], problem: str) -> None:
        bits = self._of(source)
        merge(bits, new)
        merge(self._all, new)
        self._programs[source] += 1
        self._problems += bool(problem)
        self._curves[source].append((self._programs[source], count(bits)))
        self._curves[""].append((sum(self._programs.values()), count(self._all)))

    def _figures(self, programs: int, bits: Mapping[str, int]) -> CoverageCount:
        return CoverageCount(programs=programs, torch=count(bits), compiler=count(bits, COMPILER))
