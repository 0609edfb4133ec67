"""A sweep over a catalogue of PyTorch: every sample compiled once, each result judged on its own."""

from __future__ import annotations

import dataclasses
import json
import math
import threading
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from eqfuzz.atomic_file import write_atomically
from eqfuzz.commands.journal import Journal
from eqfuzz.commands.read_catalogue import CatalogueReading, CatalogueRequest
from eqfuzz.commands.sweep_matrix import JudgedSample, SampleOutcome, SweepMatrix
from eqfuzz.errors import UsageError, one_line
from eqfuzz.events.catalogue import ProgramSwept, SweepStarted, SweepSummary
from eqfuzz.events.event import Event, Handler
from eqfuzz.events.run import CellJudged, FindingReported
from eqfuzz.generate.catalogues.programs import CatalogueProgram, NamedResult
from eqfuzz.generate.catalogues.text import unnumbered
from eqfuzz.mutate.bucketing import Bucketer
from eqfuzz.mutate.parallel import Ending, run_all
from eqfuzz.mutate.run import check_folders
from eqfuzz.mutate.seed_run import OutOfTime, SeedRun
from eqfuzz.mutate.seed_runner import SeedRunner
from eqfuzz.mutate.settings import Settings
from eqfuzz.oracle.compare.verdict import Verdict, VerdictKind
from eqfuzz.program.program import InvalidSeed
from eqfuzz.program.release import this_release
from eqfuzz.run.protocol import RunnerFailed
from eqfuzz.triage.findings.known_issues import read_known_issues

JOURNAL = "sweep.jsonl"
MATRIX = "matrix.json"
PAGE = "matrix.md"

_LONGEST_MESSAGE = 300
_OUTCOMES = {VerdictKind.AGREE: SampleOutcome.AGREE, VerdictKind.UNSUPPORTED: SampleOutcome.UNSUPPORTED}
_AGREES = Verdict(VerdictKind.AGREE, "eager and compiled agree")


def sweep_catalogue(request: CatalogueRequest, settings: Settings, handler: Handler) -> SweepSummary:
    """Judge every sample that no earlier call with the same ``out`` has judged; the last event is returned.

    ``settings`` has one configuration. Ctrl-C and the time limit end it early; the matrix so far is written all the
    same. Raises UsageError, RunnerFailed when no process can be started, InternalError for a defect of eqfuzz.
    """
    began = time.monotonic()
    deadline = math.inf if settings.time is None else began + settings.time
    check_folders(settings)
    reading = CatalogueReading(request, handler)
    ending = reading.run(deadline)
    programs = reading.programs() if ending is Ending.DONE else []
    sweep = _Sweep(programs, settings, handler)
    if programs:
        ending = sweep.run(deadline)
    matrix = SweepMatrix(sweep.judged())
    read = reading.summary(programs, interrupted=False, seconds=0.0)
    summary = SweepSummary(
        samples=read.samples,
        repeats=read.repeats,
        results=read.results,
        judged=sum(matrix.totals().values()),
        left_out=read.left_out,
        without_gradient=read.without_gradient,
        drawing=read.drawing,
        outcomes=matrix.by_dtype(),
        findings=len({one.finding for one in matrix.different if one.outcome is SampleOutcome.NEW}),
        interrupted=ending is Ending.INTERRUPTED,
        out_of_time=ending is Ending.OUT_OF_TIME,
        seconds=round(time.monotonic() - began, 3),
        cpu_seconds=round(sweep.cpu_seconds(), 3),
        out=str(settings.out),
    )
    write_atomically(
        settings.out / MATRIX, json.dumps({**matrix.to_json(), "left out": read.left_out}, indent=1) + "\n"
    )
    write_atomically(settings.out / PAGE, matrix.page(request.catalogue, _heading(summary, settings)))
    handler(summary)
    return summary


def _heading(summary: SweepSummary, settings: Settings) -> str:
    release = this_release().in_full()
    return (
        f"{summary.judged:,} of {summary.results:,} samples judged, configuration {settings.configs[0].name}, torch "
        f"{release}, random seed {settings.seed}. {summary.repeats:,} further samples differ from one of these in "
        f"values only, {sum(sum(by.values()) for by in summary.left_out.values()):,} are left out."
    )


class _Sweep:
    """Judges programs of the catalogue; what came of each is in a journal at once."""

    def __init__(self, programs: Sequence[CatalogueProgram], settings: Settings, handler: Handler) -> None:
        self._programs = programs
        self._settings = settings
        self._handler = handler
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._confirmed: dict[tuple[str, str], JudgedSample] = {}
        """The first confirmed sample by operator and kind of difference."""
        out = settings.out
        try:
            self._bucketer = Bucketer(out.resolve(), read_known_issues(settings.known_issues))
        except ValueError as error:
            raise UsageError(str(error)) from None
        self._journal = Journal(out / JOURNAL)

    def run(self, deadline: float) -> Ending:
        """Judge what is not in the journal."""
        settings = self._settings
        left = [program for program in self._programs if self._key(program) not in self._journal]
        self._handler(
            SweepStarted(
                programs=len(self._programs),
                earlier=len(self._programs) - len(left),
                config=settings.configs[0].name,
                jobs=settings.jobs,
                out=str(settings.out),
            )
        )
        for sample in self.judged():
            if sample.finding:
                self._confirmed.setdefault((sample.operator, sample.message.partition(":")[0]), sample)
        if not left:
            return Ending.DONE
        with SeedRunner(settings, ()) as runner:
            calls = (partial(self._sweep, runner, index, program) for index, program in enumerate(left))
            return run_all(runner.pool, calls, self._stop, jobs=settings.jobs, deadline=deadline)

    def judged(self) -> list[JudgedSample]:
        """The samples of all programs that are in the journal."""
        entries = dict(self._journal)
        judged: list[JudgedSample] = []
        for program in self._programs:
            if (key := self._key(program)) in entries:
                different = {number: JudgedSample.from_json(sample) for number, sample in entries[key]["different"]}
                judged += [different.get(n) or _agreeing(named) for n, named in enumerate(program.results)]
        return judged

    def cpu_seconds(self) -> float:
        """CPU seconds of the programs that are in the journal."""
        entries = dict(self._journal)
        return sum(entries[key]["cpu"] for key in map(self._key, self._programs) if key in entries)

    def _sweep(self, runner: SeedRunner, index: int, program: CatalogueProgram) -> None:
        if self._stop.is_set():
            return
        began = time.monotonic()
        judging = _ProgramJudging(runner, self._bucketer, index, self._stop, self._confirmed)
        try:
            samples = judging.judge(program)
        except OutOfTime:
            return
        except RunnerFailed:
            if self._stop.is_set():
                return  # the pool was closed
            raise
        with self._lock:
            if self._stop.is_set():
                return
            different = [
                (number, sample.to_json())
                for number, sample in enumerate(samples)
                if sample.outcome is not SampleOutcome.AGREE
            ]
            self._journal.add(self._key(program), {"different": different, "cpu": round(judging.cpu_seconds, 3)})
            self._handler(
                ProgramSwept(
                    program=program.name,
                    outcomes=SweepMatrix(samples).totals(),
                    different=[_in_words(sample) for sample in samples if sample.outcome is SampleOutcome.NEW],
                    seconds=round(time.monotonic() - began, 3),
                    cpu_seconds=round(judging.cpu_seconds, 3),
                )
            )

    def _key(self, program: CatalogueProgram) -> str:
        settings = self._settings
        config = settings.configs[0].model_dump(mode="json", exclude_defaults=True)
        under = {"seed": settings.seed, "config": config, "torch": this_release().to_versions()}
        return json.dumps([program.name, program.digest, under], sort_keys=True)


class _ProgramJudging:
    """Judges the results of one program: together, then in halves where that says nothing about each."""

    def __init__(
        self,
        runner: SeedRunner,
        bucketer: Bucketer,
        index: int,
        stop: threading.Event,
        confirmed: dict[tuple[str, str], JudgedSample],
    ) -> None:
        self.cpu_seconds = 0.0
        self._runner = runner
        self._bucketer = bucketer
        self._index = index
        self._stop = stop
        self._confirmed = confirmed

    def judge(self, program: CatalogueProgram) -> list[JudgedSample]:
        """The samples of the program in its order. Raises OutOfTime, RunnerFailed, InternalError."""
        verdicts = self._verdicts(program)
        return [self._judged(program, number, verdict) for number, verdict in enumerate(verdicts)]

    def _verdicts(self, program: CatalogueProgram) -> list[Verdict]:
        """A verdict on each result."""
        count = len(program.results)
        run = self._run(program, collect=_ignore, apart=not program.is_refused)
        try:
            run.judge()
        except InvalidSeed as error:
            verdict = Verdict(VerdictKind.INVALID_SEED, one_line(error.reason, _LONGEST_MESSAGE))
        else:
            (cell,) = run.cells.values()
            if cell.verdict.kind is VerdictKind.AGREE:
                return [cell.verdict] * count
            if cell.apart:
                return self._with_fewer_around(program, [dict(cell.apart).get(n, _AGREES) for n in range(count)])
            verdict = cell.verdict
        finally:
            self.cpu_seconds += run.cpu_seconds
        if count == 1:
            return [verdict]
        half = count // 2
        return [
            *self._verdicts(program.part(range(half))),
            *self._verdicts(program.part(range(half, count))),
        ]

    def _with_fewer_around(self, program: CatalogueProgram, verdicts: list[Verdict]) -> list[Verdict]:
        """The verdicts; inconclusive ones from smaller programs, as one result can unsettle others."""
        unsettled = [n for n, verdict in enumerate(verdicts) if verdict.kind is VerdictKind.INCONCLUSIVE]
        count = len(unsettled)
        if len(verdicts) == 1 or not count:
            return verdicts
        half = count if count < len(verdicts) else count // 2
        for part in (unsettled[:half], unsettled[half:]):
            again = self._verdicts(program.part(part)) if part else []
            for number, verdict in zip(part, again, strict=True):
                verdicts[number] = verdict
        return verdicts

    def _judged(self, program: CatalogueProgram, number: int, verdict: Verdict) -> JudgedSample:
        named = program.results[number]
        sample = _agreeing(named)
        if verdict.kind is VerdictKind.AGREE:
            return sample
        message = one_line(f"{verdict.kind}: {verdict.in_words}", _LONGEST_MESSAGE)
        outcome = _OUTCOMES.get(verdict.kind, SampleOutcome.NOT_COMPARABLE)
        sample = dataclasses.replace(sample, outcome=outcome, call=unnumbered(named.result.expression), message=message)
        if not verdict.is_finding:
            return sample
        kind = named.operator, str(verdict.kind)
        earlier = self._confirmed.get(kind)
        if earlier is None:
            earlier = self._confirm(program, number, sample)
            if earlier.finding:
                self._confirmed[kind] = earlier
            return earlier
        return dataclasses.replace(sample, outcome=earlier.outcome, finding=earlier.finding, issue=earlier.issue)

    def _confirm(self, program: CatalogueProgram, number: int, sample: JudgedSample) -> JudgedSample:
        """The sample with the finding that it shows alone in a program, else beside the others."""
        reasons: list[str] = []
        for tried in (program.part([number]), program):
            events: list[Event] = []
            run = self._run(tried, collect=events.append, apart=False)
            run.run()
            self.cpu_seconds += run.cpu_seconds
            for event in events:
                if isinstance(event, FindingReported):
                    outcome = SampleOutcome.KNOWN if event.issue else SampleOutcome.NEW
                    return dataclasses.replace(sample, outcome=outcome, finding=event.finding.id, issue=event.issue)
            reasons += [event.verdict.in_words for event in events if isinstance(event, CellJudged) and event.config]
            if any(event.verdict.kind is not VerdictKind.AGREE for event in events if isinstance(event, CellJudged)):
                break
        message = one_line(f"not confirmed: {'; '.join(reasons)}: {sample.message}", _LONGEST_MESSAGE)
        return dataclasses.replace(sample, outcome=SampleOutcome.NOT_COMPARABLE, message=message)

    def _run(self, program: CatalogueProgram, *, collect: Handler, apart: bool) -> SeedRun:
        results = tuple(map(tuple, program.arguments())) if apart else ()
        return self._runner.seed_run(
            self._index,
            Path(program.name),
            collect,
            self._stop,
            bucketer=self._bucketer,
            text=program.source,
            results=results,
        )


def _ignore(event: Event) -> None:
    """The events of a program with many results are about none of them."""


def _agreeing(named: NamedResult) -> JudgedSample:
    return JudgedSample(named.operator, named.dtype, named.result.sample, SampleOutcome.AGREE)


def _in_words(sample: JudgedSample) -> str:
    return f"{sample.operator} {sample.dtype}: {sample.call}: {sample.message} [{sample.finding}]"
