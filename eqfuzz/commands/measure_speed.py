"""Measurement of ``eqfuzz speed``: seeds and their variants timed in eager and compiled, one seed after the other."""

from __future__ import annotations

import dataclasses
import math
import threading
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from eqfuzz.events.event import Handler
from eqfuzz.events.speed import SeedTimed, SpeedStarted, SpeedSummary, TimedProgram, TimingStarted
from eqfuzz.mutate.parallel import Ending, run_all
from eqfuzz.mutate.run import check_folders, require_sandbox, rule_names
from eqfuzz.mutate.seed_run import InternalError
from eqfuzz.mutate.settings import Settings
from eqfuzz.oracle.compare.verdict import VerdictKind
from eqfuzz.program.formats import read_program
from eqfuzz.program.pools.seed_files import seed_files
from eqfuzz.program.program import InvalidSeed, Program
from eqfuzz.run.limits import Limits
from eqfuzz.run.messages.job import ChildExit, JobRestarted, ProgramInvalid, StageEntered
from eqfuzz.run.messages.seed_jobs import CellReport, ProgramRewritten, RunJob, VariantRecord
from eqfuzz.run.messages.speed_jobs import ProgramNotTimed, ProgramTimes, SpeedJob, SpeedMeasured
from eqfuzz.run.processes.exit_reasons import death_in_words
from eqfuzz.run.processes.pool import Pool
from eqfuzz.triage.findings.versions import versions

_EQUAL = (VerdictKind.AGREE, VerdictKind.INCONCLUSIVE)
"""Verdicts in eager on variants that are timed."""


def measure_speed(settings: Settings, seconds: float, handler: Handler) -> SpeedSummary:
    """Time every seed for ``seconds`` and hand each event to ``handler``; the last is the returned summary.

    One seed at a time, whatever ``settings.jobs`` is: two would slow each other. Ctrl-C and the time limit end it early
    with a partial summary. Raises UsageError, RunnerFailed when no process can be started, InternalError for a defect
    of eqfuzz.
    """
    began = time.monotonic()
    paths, rules = seed_files(settings.paths), rule_names(settings)
    check_folders(settings)
    require_sandbox(paths, untrusted=settings.untrusted, unsafe=settings.unsafe)
    limits = Limits(compile_s=settings.compiling.timeout)
    stop = threading.Event()
    done: list[SeedTimed] = []

    def run(index: int, path: Path) -> None:
        handler(TimingStarted(index=index, path=str(path)))
        event = _SeedMeasurement(index, path, settings, limits, seconds, rules).run(pool)
        if not stop.is_set():  # after the end it is the end of an interrupted job
            done.append(event)
            handler(event)

    handler(
        SpeedStarted(
            seed=settings.seed,
            seeds=len(paths),
            strategy=settings.rewriting.strategy,
            rules=len(rules),
            config=settings.configs[0].name,
            seconds=seconds,
            out=str(settings.out),
            versions=versions(),
        )
    )
    with Pool(settings.environment(), limits, jobs=1) as pool:
        calls = (partial(run, index, path) for index, path in enumerate(paths))
        deadline = math.inf if settings.time is None else began + settings.time
        ending = run_all(pool, calls, stop, jobs=1, deadline=deadline)
    variants = [program for event in done for program in event.programs if program.variant]
    summary = SpeedSummary(
        seeds=len(paths),
        timed=sum(bool(event.rounds) for event in done),
        slow=sum(bool(program.slow) for program in variants),
        eager_ratios=[program.eager_ratio.median for program in variants if program.eager_ratio is not None],
        compiled_ratios=[program.compiled_ratio.median for program in variants if program.compiled_ratio is not None],
        interrupted=ending is Ending.INTERRUPTED,
        out_of_time=ending is Ending.OUT_OF_TIME,
        seconds=round(time.monotonic() - began, 3),
    )
    handler(summary)
    return summary


class _SeedMeasurement:
    """One seed: its job, and what the child reports."""

    def __init__(
        self, index: int, path: Path, settings: Settings, limits: Limits, seconds: float, rules: Sequence[str]
    ) -> None:
        self._index = index
        self._path = path
        self._settings = settings
        self._limits = limits
        self._seconds = seconds
        self._rules = tuple(rules)
        self._forget()

    def run(self, pool: Pool) -> SeedTimed:
        """What came of it. Raises InternalError where the child fails by a defect of eqfuzz."""
        try:
            program = read_program(self._path, str(self._path))
        except InvalidSeed as error:
            return self._event(error.reason)
        program = dataclasses.replace(program, untrusted=program.untrusted or self._settings.untrusted)
        stage, problem = "start", ""
        for event in pool.stream(self._job(program)):
            match event:
                case JobRestarted():
                    self._forget()
                case StageEntered():
                    stage = event.stage
                case ProgramInvalid():
                    problem = event.reason
                case ProgramRewritten():
                    self._variants = event.variants
                case CellReport() if event.verdict.kind not in _EQUAL:
                    self._problems[event.variant] = f"in eager {event.verdict.kind}: {event.verdict.message}"
                case ProgramNotTimed():
                    self._problems[event.variant] = f"compiled it raises {event.problem}"
                case SpeedMeasured():
                    self._times, self._rounds = {one.variant: one for one in event.programs}, event.rounds
                case ChildExit() if event.reason == "error" and not program.untrusted:
                    raise InternalError(f"{self._path}: {event.detail}", event.output)
                case ChildExit() if event.reason != "done":
                    problem = death_in_words(stage, event.reason, event.detail)
                case _:
                    pass
        return self._event(problem)

    def _forget(self) -> None:
        self._variants: Sequence[VariantRecord] = ()
        self._problems: dict[int, str] = {}
        self._times: dict[int, ProgramTimes] = {}
        self._rounds = 0

    def _job(self, program: Program) -> SpeedJob:
        settings = self._settings
        rewriting = settings.rewriting
        run = RunJob(
            program=program,
            seed=settings.seed,
            limits=self._limits,
            configs=settings.configs[:1],
            rules=self._rules,
            rules_from=tuple(str(path.absolute()) for path in rewriting.rules_from),
            strategy=rewriting.strategy,
            depth=rewriting.depth,
            variants=rewriting.variants,
        )
        return SpeedJob(run=run, seconds=self._seconds)

    def _event(self, problem: str) -> SeedTimed:
        rules = [[], *(record.rules for record in self._variants)]
        is_valid = bool(self._times or self._problems)
        programs = [self._program(number, names) for number, names in enumerate(rules)] if is_valid else []
        return SeedTimed(
            index=self._index, path=str(self._path), programs=programs, rounds=self._rounds, problem=problem
        )

    def _program(self, number: int, rules: list[str]) -> TimedProgram:
        times = self._times.get(number)
        if times is None:
            problem = self._problems.get(number) or f"its original is not timed: {self._problems.get(0, 'no answer')}"
            return TimedProgram(variant=number, rules=rules, problem=problem)
        return TimedProgram(
            variant=number,
            rules=rules,
            eager=times.eager,
            compiled=times.compiled,
            eager_ratio=times.eager_ratio,
            compiled_ratio=times.compiled_ratio,
            slow=times.slow.message if times.slow is not None else "",
        )
