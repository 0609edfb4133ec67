"""A sweep over a catalogue of PyTorch: every sample compiled once, each result judged on its own."""

from __future__ import annotations

import dataclasses
import datetime
import itertools
import json
import math
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, get_args

import torch

from eqfuzz.atomic_file import write_atomically
from eqfuzz.commands.journal import Journal
from eqfuzz.commands.read_catalogue import CatalogueReading, CatalogueRequest
from eqfuzz.commands.sweep_matrix import JudgedSample, SampleOutcome, SweepMatrix
from eqfuzz.errors import UsageError, one_line
from eqfuzz.events.catalogue import ProgramSwept, SweepStarted, SweepSummary
from eqfuzz.events.event import Event, Handler, ignore
from eqfuzz.events.run import CellJudged, FindingReported
from eqfuzz.generate.catalogues.programs import CatalogueProgram, NamedResult
from eqfuzz.generate.catalogues.text import unnumbered
from eqfuzz.mutate.bucketing import Bucketer
from eqfuzz.mutate.parallel import Ending, run_all
from eqfuzz.mutate.run import check_folders
from eqfuzz.mutate.seed_run import OutOfTime, SeedRun
from eqfuzz.mutate.seed_runner import SeedRunner
from eqfuzz.mutate.settings import DeviceName, Settings
from eqfuzz.oracle.compare.single_result import ResultPlaces
from eqfuzz.oracle.compare.verdict import Verdict, VerdictKind
from eqfuzz.program.program import InvalidSeed
from eqfuzz.program.release import this_release
from eqfuzz.run.protocol import RunnerFailed
from eqfuzz.triage.findings.buckets import Buckets
from eqfuzz.triage.findings.folder import read_finding
from eqfuzz.triage.findings.known_issues import read_known_issues

JOURNAL = "sweep.jsonl"
MATRIX = "matrix.json"
PAGE = "matrix.md"

_FORMAT = 2
"""Of the journal's entries."""

_PARTS_OF_SLOW = 8
"""Parts into which a program that takes too long is divided: each that has the slow result costs the limit again."""

_LONGEST_MESSAGE = 300
_OUTCOMES = {VerdictKind.AGREE: SampleOutcome.AGREE, VerdictKind.UNSUPPORTED: SampleOutcome.UNSUPPORTED}
_AGREES = Verdict(VerdictKind.AGREE, "eager and compiled agree")


def sweep_catalogue(request: CatalogueRequest, settings: Settings, handler: Handler) -> SweepSummary:
    """Judge every sample that no earlier call with the same ``out`` has judged; the last event is returned.

    ``settings`` has one configuration. Devices are swept one after the other. Ctrl-C and the time limit end it early;
    the matrix so far is written all the same. Raises UsageError, RunnerFailed when no process can be started,
    InternalError for a defect of eqfuzz.
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
        results=read.results * len(sweep.devices),
        judged=sum(matrix.totals().values()),
        left_out=read.left_out,
        without_gradient=read.without_gradient,
        drawing=read.drawing,
        outcomes=matrix.by_column(),
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
    write_atomically(
        settings.out / PAGE, matrix.page(request.catalogue, _heading(summary, settings, sweep.last_runs()))
    )
    for event in sweep.findings():
        handler(event)
    handler(summary)
    return summary


def _heading(summary: SweepSummary, settings: Settings, last_runs: Mapping[str, str]) -> str:
    release = this_release().in_full()
    cpu, cuda = (f"run on {last_runs[name]}" if name in last_runs else "not begun" for name in ("cpu", "cuda"))
    if not settings.compiling.uses_cuda:
        why = "left out" if torch.cuda.is_available() else "not run: no device"
        cuda = f"{why} (last {cuda})" if "cuda" in last_runs else why
    return (
        f"{summary.judged:,} of {summary.results:,} samples judged, configuration {settings.configs[0].name}, torch "
        f"{release}, random seed {settings.seed}. {summary.repeats:,} further samples differ from one of these in "
        f"values only, {sum(sum(by.values()) for by in summary.left_out.values()):,} are left out. CPU: "
        f"{cpu}. CUDA: {cuda}."
    )


class _Sweep:
    """Judges programs of the catalogue; what came of each is in a journal at once."""

    def __init__(self, programs: Sequence[CatalogueProgram], settings: Settings, handler: Handler) -> None:
        self._programs = programs
        self._settings = settings
        self._handler = handler
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._confirmed: dict[tuple[str, str, str], JudgedSample] = {}
        """The first confirmed sample by device, operator and kind of difference."""
        self._earlier: set[str] = set()
        """Ids of the findings of earlier calls."""
        out = settings.out
        try:
            self._bucketer = Bucketer(out.resolve(), read_known_issues(settings.known_issues))
        except ValueError as error:
            raise UsageError(str(error)) from None
        self._journal = Journal(out / JOURNAL)
        config = settings.configs[0].model_dump(mode="json", exclude_defaults=True)
        self._under = {
            "format": _FORMAT,
            "seed": settings.seed,
            "config": config,
            "torch": this_release().to_versions(),
        }

    def run(self, deadline: float) -> Ending:
        """Judge what is not in the journal."""
        settings = self._settings
        devices = settings.compiling.devices
        left: dict[DeviceName, list[CatalogueProgram]] = {
            device: [program for program in self._programs if self._key(program, device) not in self._journal]
            for device in devices
        }
        planned = len(devices) * len(self._programs)
        self._handler(
            SweepStarted(
                programs=planned,
                earlier=planned - sum(map(len, left.values())),
                config=settings.configs[0].name,
                jobs=settings.jobs,
                out=str(settings.out),
            )
        )
        self._look_up_again()
        for sample in self.judged():
            if sample.finding:
                self._earlier.add(sample.finding)
                self._confirmed.setdefault((sample.device, sample.operator, sample.message.partition(":")[0]), sample)
        ending = Ending.DONE
        for device, programs in left.items():
            if programs and ending is Ending.DONE:
                ending = self._run_on(device, programs, deadline)
        return ending

    def _look_up_again(self) -> None:
        """Give differences of earlier calls the known issues of today's list, where their findings are still there."""
        for device, program, entry in list(self._entries()):
            different = [(number, self._looked_up(JudgedSample.from_json(data))) for number, data in entry["different"]]
            renewed = [[number, sample.to_json()] for number, sample in different]
            if renewed != entry["different"]:
                self._journal.add(self._key(program, device), {**entry, "different": renewed})

    def _looked_up(self, sample: JudgedSample) -> JudgedSample:
        if not sample.finding:
            return sample
        try:
            finding = read_finding(self._settings.out / "findings" / sample.finding)
        except (OSError, ValueError):
            return sample
        issue = self._bucketer.issue_of(finding)
        if issue is None:
            return dataclasses.replace(sample, outcome=SampleOutcome.NEW, issue="")
        return dataclasses.replace(sample, outcome=SampleOutcome.KNOWN, issue=issue.url)

    def _run_on(self, device: DeviceName, programs: Sequence[CatalogueProgram], deadline: float) -> Ending:
        settings = self._settings
        self._stop = threading.Event()  # the end of the runs on another device has set the last one
        compiling = settings.compiling.model_copy(update={"devices": (device,)})
        with SeedRunner(dataclasses.replace(settings, compiling=compiling), ()) as runner:
            calls = (partial(self._sweep, runner, device, index, program) for index, program in enumerate(programs))
            return run_all(runner.pool, calls, self._stop, jobs=settings.jobs, deadline=deadline)

    def judged(self) -> list[JudgedSample]:
        """The samples of all programs that are in the journal, of any device."""
        judged: list[JudgedSample] = []
        for device, program, entry in self._entries():
            different = {number: JudgedSample.from_json(sample) for number, sample in entry["different"]}
            judged += [different.get(n) or _agreeing(named, device) for n, named in enumerate(program.results)]
        return judged

    @property
    def devices(self) -> set[str]:
        """Those that are swept, and those that the journal has."""
        return {*self._settings.compiling.devices, *self.last_runs()}

    def last_runs(self) -> dict[str, str]:
        """The last day on which something was judged, by device."""
        days: dict[str, str] = {}
        for device, _, entry in self._entries():
            days[device] = max(days.get(device, ""), entry["day"])
        return days

    def findings(self) -> Iterator[FindingReported]:
        """The findings of the programs that are in the journal, of earlier calls too, unless their folder is gone."""
        folders = self._settings.out / "findings"
        buckets = Buckets(self._settings.out.resolve())
        reported: set[str] = set()
        for index, (_, _, entry) in enumerate(self._entries()):
            for _, data in entry["different"]:
                sample = JudgedSample.from_json(data)
                if not sample.finding or sample.finding in reported:
                    continue
                reported.add(sample.finding)
                try:
                    finding = read_finding(folders / sample.finding)
                except (OSError, ValueError):
                    continue
                yield FindingReported(
                    index=index,
                    finding=finding,
                    folder=str(folders / sample.finding),
                    known=sample.finding in self._earlier,
                    bucket=buckets.of(finding) if finding.fingerprint else "",
                    issue=sample.issue,
                )

    def cpu_seconds(self) -> float:
        """CPU seconds of the programs that are in the journal."""
        return sum(entry["cpu"] for _, _, entry in self._entries())

    def _entries(self) -> Iterator[tuple[DeviceName, CatalogueProgram, dict[str, Any]]]:
        """What the journal has of each device and program."""
        entries = dict(self._journal)
        for device in get_args(DeviceName):
            for program in self._programs:
                if (key := self._key(program, device)) in entries:
                    yield device, program, entries[key]

    def _sweep(self, runner: SeedRunner, device: DeviceName, index: int, program: CatalogueProgram) -> None:
        if self._stop.is_set():
            return
        began = time.monotonic()
        out = self._settings.out.resolve()
        judging = _ProgramJudging(runner, self._bucketer, device, index, self._stop, self._confirmed, out)
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
            day = datetime.datetime.now(datetime.UTC).date().isoformat()
            entry = {"different": different, "cpu": round(judging.cpu_seconds, 3), "day": day}
            self._journal.add(self._key(program, device), entry)
            self._handler(
                ProgramSwept(
                    program=program.name,
                    outcomes=SweepMatrix(samples).totals(),
                    different=[_in_words(sample) for sample in samples if sample.outcome is SampleOutcome.NEW],
                    seconds=round(time.monotonic() - began, 3),
                    cpu_seconds=round(judging.cpu_seconds, 3),
                )
            )

    def _key(self, program: CatalogueProgram, device: DeviceName) -> str:
        under = self._under if device == "cpu" else {**self._under, "device": device}
        return json.dumps([program.name, program.digest, under], sort_keys=True)


class _ProgramJudging:
    """Judges the results of one program: together, then in parts where that says nothing about each."""

    def __init__(
        self,
        runner: SeedRunner,
        bucketer: Bucketer,
        device: DeviceName,
        index: int,
        stop: threading.Event,
        confirmed: dict[tuple[str, str, str], JudgedSample],
        out: Path,
    ) -> None:
        self.cpu_seconds = 0.0
        self._folder = f"{out}/"
        self._runner = runner
        self._bucketer = bucketer
        self._device: DeviceName = device
        self._index = index
        self._stop = stop
        self._confirmed = confirmed

    def judge(self, program: CatalogueProgram) -> list[JudgedSample]:
        """The samples of the program in its order. Raises OutOfTime, RunnerFailed, InternalError."""
        samples: list[JudgedSample] = []
        for number, verdict in enumerate(self._verdicts(program)):
            samples.append(self._judged(program, number, verdict, samples))
        return samples

    def _verdicts(self, program: CatalogueProgram) -> list[Verdict]:
        """A verdict on each result."""
        count = len(program.results)
        run = self._run(program, collect=ignore, apart=not program.is_refused)
        try:
            run.judge()
        except InvalidSeed as error:
            verdict = Verdict(VerdictKind.INVALID_SEED, one_line(error.reason, _LONGEST_MESSAGE))
        else:
            (cell,) = run.cells.values()
            if cell.verdict.kind is VerdictKind.AGREE:
                return [cell.verdict] * count
            if cell.apart:
                verdicts = [dict(cell.apart).get(n, _AGREES) for n in range(count)]
                return self._with_fewer_around(program, self._with_own_tensors(program, verdicts))
            verdict = cell.verdict
        finally:
            self.cpu_seconds += run.cpu_seconds
        if count == 1:
            return [verdict]
        parts = min(count, _PARTS_OF_SLOW if verdict.kind is VerdictKind.HANG else 2)
        bounds = [count * part // parts for part in range(parts + 1)]
        return [
            verdict
            for start, end in itertools.pairwise(bounds)
            for verdict in self._verdicts(program.part(range(start, end)))
        ]

    def _with_own_tensors(self, program: CatalogueProgram, verdicts: list[Verdict]) -> list[Verdict]:
        """The verdicts; where several that share their tensors differ, so that one gradient may be behind them, of each
        alone. If none differs alone, the first of them differs beside the others.
        """
        owners = program.owners()
        for owner in dict.fromkeys(owners):
            different = [n for n, o in enumerate(owners) if o == owner and verdicts[n].kind is not VerdictKind.AGREE]
            if len(different) < 2:
                continue
            alone = [self._verdicts(program.part([number]))[0] for number in different]
            if all(verdict.kind is VerdictKind.AGREE for verdict in alone):
                alone[0] = verdicts[different[0]]
            for number, verdict in zip(different, alone, strict=True):
                verdicts[number] = verdict
        return verdicts

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

    def _judged(
        self, program: CatalogueProgram, number: int, verdict: Verdict, before: Sequence[JudgedSample]
    ) -> JudgedSample:
        named = program.results[number]
        sample = _agreeing(named, self._device)
        if verdict.kind is VerdictKind.AGREE:
            return sample
        message = one_line(f"{verdict.kind}: {verdict.in_words}", _LONGEST_MESSAGE)
        outcome = _OUTCOMES.get(verdict.kind, SampleOutcome.NOT_COMPARABLE)
        sample = dataclasses.replace(sample, outcome=outcome, call=unnumbered(named.result.expression), message=message)
        if not verdict.is_finding:
            return sample
        kind = self._device, named.operator, str(verdict.kind)
        earlier = self._confirmed.get(kind)
        if earlier is None:
            cause = next((one for one in before if one.finding), None) if named.result.draws else None
            earlier = self._confirm(sample, [program.part([number])] if cause else [program.part([number]), program])
            if cause and not earlier.finding:
                # Other numbers were drawn before: those that are drawn now are others, too.
                return dataclasses.replace(sample, outcome=cause.outcome, finding=cause.finding, issue=cause.issue)
            if earlier.finding:
                self._confirmed[kind] = earlier
            return earlier
        return dataclasses.replace(sample, outcome=earlier.outcome, finding=earlier.finding, issue=earlier.issue)

    def _confirm(self, sample: JudgedSample, programs: Sequence[CatalogueProgram]) -> JudgedSample:
        """The sample with the finding that the first of ``programs`` that differs shows."""
        reasons: list[str] = []
        for tried in programs:
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
        # The journal is read on other machines, too.
        why = "; ".join(reasons).replace(self._folder, "")
        message = one_line(f"not confirmed: {why}: {sample.message}", _LONGEST_MESSAGE)
        return dataclasses.replace(sample, outcome=SampleOutcome.NOT_COMPARABLE, message=message)

    def _run(self, program: CatalogueProgram, *, collect: Handler, apart: bool) -> SeedRun:
        places = zip(program.arguments(), program.submodules(), strict=True) if apart else ()
        return self._runner.seed_run(
            self._index,
            Path(program.name),
            collect,
            self._stop,
            bucketer=self._bucketer,
            text=program.source,
            results=tuple(ResultPlaces(tuple(arguments), submodule) for arguments, submodule in places),
            is_confirmed=lambda finding: self._bucketer.issue_of(finding) is not None,
        )


def _agreeing(named: NamedResult, device: DeviceName) -> JudgedSample:
    return JudgedSample(named.operator, named.dtype, named.result.sample, SampleOutcome.AGREE, device=device)


def _in_words(sample: JudgedSample) -> str:
    return f"{sample.operator} {sample.column}: {sample.call}: {sample.message} [{sample.finding}]"
