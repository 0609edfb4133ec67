"""Run of one seed: its job, again after each crash of a child; its verdicts, grouped and confirmed as findings."""

from __future__ import annotations

import dataclasses
import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from eqfuzz.events.event import Handler
from eqfuzz.events.run import (
    CellJudged,
    FindingReported,
    ForkServerRestarted,
    LinesCovered,
    SeedDone,
    SeedInvalid,
    SeedRewritten,
    SeedStarted,
    SitesListed,
    VariantMade,
)
from eqfuzz.mutate.bucketing import BucketAssignment, Bucketer
from eqfuzz.mutate.saved_variants import keep_variant, text_of_variant
from eqfuzz.mutate.settings import Settings
from eqfuzz.oracle.compare.single_result import ResultPlaces
from eqfuzz.oracle.compare.verdict import Verdict, VerdictKind
from eqfuzz.program.formats import read_program, recognise
from eqfuzz.program.policy import require_allowed
from eqfuzz.program.program import InvalidSeed, Program
from eqfuzz.run.configs.named import GUARDS, OWN_RANDOM, Config, choose
from eqfuzz.run.environment import Environment
from eqfuzz.run.limits import Limits
from eqfuzz.run.messages.job import ChildExit, JobRestarted, ProgramInvalid, StageEntered
from eqfuzz.run.messages.seed_jobs import (
    CellReport,
    LinesTraced,
    ProgramRewritten,
    ResourcesUsed,
    RunJob,
    VariantRecord,
)
from eqfuzz.run.processes.cpu_meter import metering
from eqfuzz.run.processes.exit_reasons import DEATHS, NO_VERDICT, death_in_words
from eqfuzz.run.processes.pool import Pool
from eqfuzz.run.protocol import FORBIDDEN
from eqfuzz.triage.confirm.cell import Cell
from eqfuzz.triage.confirm.confirmation import ConfirmedFinding, FindingConfirmer
from eqfuzz.triage.confirm.symptom_groups import symptom_groups
from eqfuzz.triage.findings.finding import Finding

THREAD_COUNTS = (2, 3, 4)
"""Numbers of threads to choose from: loops are split in halves, unevenly, or into many parts."""


TRIAGE = "triage"
"""What confirming and locating findings is called among the timings of a seed."""


class InternalError(Exception):
    """A child failed by a defect of eqfuzz; ``str()`` is one line, ``details`` the output of the child."""

    def __init__(self, message: str, details: str) -> None:
        super().__init__(message)
        self.details = details


class OutOfTime(Exception):
    """The run's wall budget is spent, or it was stopped."""


@dataclasses.dataclass(frozen=True)
class RunResources:
    """What all seeds of a run share."""

    rules: tuple[str, ...]
    """Names of the selected rules."""
    pool: Pool
    environment: Environment
    limits: Limits
    versions: dict[str, str]


class SeedRun:
    """Runs the seed at ``path``, or the ``text`` of this name, and reports by ``emit``.

    Findings get a bucket if there is a ``bucketer``. ``stop`` and the monotonic time ``deadline`` interrupt the run.
    ``is_confirmed`` is as for ``FindingConfirmer``. ``results`` are as in ``RunJob``: then ``judge`` is to be called,
    and the cell has verdicts on each result.
    """

    def __init__(
        self,
        index: int,
        path: Path,
        settings: Settings,
        resources: RunResources,
        emit: Handler,
        stop: threading.Event,
        deadline: float | None = None,
        bucketer: Bucketer | None = None,
        text: str | None = None,
        results: tuple[ResultPlaces, ...] = (),
        is_confirmed: Callable[[Finding], bool] | None = None,
    ) -> None:
        self.index = index
        self.path = path
        self.name = str(path)
        self.settings = settings
        self.rules = resources.rules
        self.pool = resources.pool
        self.environment = resources.environment
        self.limits = resources.limits
        self.versions = resources.versions
        self.emit = emit
        self.stop = stop
        self.deadline = deadline
        self.bucketer = bucketer
        self.text = text
        self.results = results
        self.is_confirmed = is_confirmed
        self.untrusted = settings.untrusted
        self.weights = ""
        self.variants: tuple[VariantRecord, ...] = ()
        self.cells: dict[tuple[int, str, str], Cell] = {}
        self.judged_variants: set[int] = set()
        self.rewritten = False
        self.cpu_seconds = 0.0
        self.timings: dict[str, float] = {}
        self.kernels: dict[str, int] = {}
        self.peak_mb = 0
        self.symptoms: set[tuple[str, ...]] = set()
        """Confirmed symptoms of the original, of this run or an earlier one."""
        self.features: dict[int, set[int]] = {}
        """Features of the compiled cells by variant (0: the seed); only with ``Settings.signals``."""
        self._lines: dict[str, int] = {}

    def run(self) -> None:
        """Raises InternalError, OutOfTime or RunnerFailed; an invalid seed is an event."""
        began = time.monotonic()
        self.emit(SeedStarted(index=self.index, seed=self.name))
        try:
            program = self.judge()
            if self.rewritten:
                with metering() as meter:
                    self._make_findings(program)
                self.timings = {**self.timings, TRIAGE: meter.seconds}
                self.cpu_seconds += meter.seconds
        except InvalidSeed as error:
            self.emit(SeedInvalid(index=self.index, seed=self.name, reason=str(error)))
        if self.settings.traced:
            self.emit(LinesCovered(index=self.index, seed=self.name, files=self.covered_lines()))
        self.emit(
            SeedDone(
                index=self.index,
                seed=self.name,
                seconds=time.monotonic() - began,
                cpu_seconds=self.cpu_seconds,
                timings=self.timings,
                kernels=self.kernels,
                peak_mb=self.peak_mb,
            )
        )

    def covered_lines(self) -> dict[str, str]:
        """Lines of torch that ran, as in ``LinesCovered``; only with ``Settings.traced``."""
        return {file: f"{bitmap:x}" for file, bitmap in sorted(self._lines.items())}

    def judge(self) -> Program:
        """Read the seed and have all its cells judged, without a finding made of any. Raises InvalidSeed too."""
        program = read_program(self.path, self.name) if self.text is None else recognise(self.text, self.name)
        self.untrusted = program.untrusted or self.settings.untrusted
        self.weights = program.weights
        program = dataclasses.replace(program, untrusted=self.untrusted)
        require_allowed(program)
        if self.untrusted and "cuda" in self.settings.compiling.devices:
            raise InvalidSeed(self.name, "untrusted, and the sandbox has no CUDA: leave out --device cuda")
        self._run_job(self._job(program))
        return program

    def source_of(self, variant: int) -> str:
        """A variant's text as a seed file. ``variant`` counts from 1. Raises IndexError for one that was not made."""
        record = self.variants[variant - 1]
        return text_of_variant(self.name, record.source, record.rules, untrusted=self.untrusted)

    def _job(self, program: Program) -> RunJob:
        settings = self.settings
        key = f"{settings.seed} {program.digest}"
        configs = tuple(c.drawn_for(key) for c in self._configs(program) if self._is_left(c))
        own = [config for config in self._of_original(program, configs) if self._is_left(config)]
        return RunJob(
            program=program,
            seed=settings.seed,
            rules=self.rules,
            strategy=settings.rewriting.strategy if self.path not in settings.unrewritten else "none",
            depth=settings.rewriting.depth,
            variants=settings.rewriting.variants,
            devices=settings.compiling.devices,
            configs=(*configs, *own),
            original_only=tuple(config.name for config in own),
            limits=dataclasses.replace(self.limits, compile_s=settings.compiling.timeout),
            dry_run=settings.dry_run,
            rules_from=tuple(str(p.absolute()) for p in settings.rewriting.rules_from),
            favoured=settings.favoured,
            list_sites=settings.diff,
            results=self.results,
            graphs_first=settings.graphs_first,
            in_batches=settings.compiling.runner == "fast" and "cuda" not in settings.compiling.devices,
            checks=settings.checks,
            steps=settings.judging.steps,
            guard_steps=settings.guard_steps,
            input_sets=settings.judging.input_sets,
            signals=settings.signals,
            traced=settings.traced,
        )

    def _configs(self, program: Program) -> tuple[Config, ...]:
        """The configurations of the settings, or those that the seed names. Raises InvalidSeed for an unknown one."""
        offered = self.settings.seed_configs
        if not offered or not program.configs:
            return self.settings.configs
        try:
            return choose(program.configs, offered)
        except ValueError as error:
            raise InvalidSeed(self.name, f"the block `# /// eqfuzz`: {error}", 1) from None

    def _is_left(self, config: Config) -> bool:
        return (self.name, config.name) not in self.settings.judged

    def _of_original(self, program: Program, configs: Sequence[Config]) -> Iterator[Config]:
        """The configurations that only the original is compiled under."""
        settings = self.settings
        yield from self._threaded(program, configs)
        if settings.guard_steps and settings.judging.steps and "guards" in settings.checks:
            yield GUARDS
        if settings.own_random and "metadata" in settings.checks:
            yield OWN_RANDOM

    def _threaded(self, program: Program, configs: Sequence[Config]) -> Sequence[Config]:
        """The first configuration with several threads, for a random share of the seeds."""
        settings = self.settings
        rng = random.Random(f"{settings.seed} {program.digest} threads")
        drawn = rng.random() < settings.compiling.threaded and settings.compiling.devices == ("cpu",)
        plain = [config for config in configs if config.backend == "inductor" and config.threads == 1]
        return [config.with_threads(rng.choice(THREAD_COUNTS)) for config in plain[:1] if drawn]

    def _run_job(self, job: RunJob) -> None:
        """Run the job until a child completes it; each crash takes one more cell or variant out of it."""
        while True:
            ended, stage = self._run_child(job)
            self.cpu_seconds += ended.cpu_seconds
            if ended.reason == "done":
                return
            if ended.reason == FORBIDDEN or (ended.reason == "error" and job.program.untrusted):
                raise InvalidSeed(self.name, f"in the sandbox: {ended.detail}")
            if ended.reason == "error":
                raise InternalError(f"{self.name}: {ended.detail}", ended.output)
            job = self._without_crashed(job, ended, stage)
            if self._has_hung():
                job = dataclasses.replace(job, limits=job.limits.after_hang(), without_end=self._without_end())

    def _run_child(self, job: RunJob) -> tuple[ChildExit, StageEntered | None]:
        """How the child ended, and the last stage that it entered."""
        stage: StageEntered | None = None
        invalid: InvalidSeed | None = None
        for event in self.pool.stream(job):
            if self.stop.is_set() or (self.deadline is not None and time.monotonic() > self.deadline):
                raise OutOfTime
            match event:
                case ProgramInvalid():
                    invalid = InvalidSeed(self.name, event.reason, event.line)
                case ProgramRewritten():
                    self._take_variants(job, event)
                case CellReport():
                    self._take_report(event)
                case LinesTraced():
                    for file, bitmap in event.files.items():
                        self._lines[file] = self._lines.get(file, 0) | int(bitmap, 16)
                case StageEntered():
                    stage = event
                case JobRestarted():
                    self.emit(ForkServerRestarted(index=self.index, seed=self.name, detail=event.detail))
                case ResourcesUsed():
                    self.timings, self.kernels, self.peak_mb = event.seconds, event.kernels, event.peak_mb
                case ChildExit() if invalid is not None:  # only now: the process of a worker lives on
                    raise invalid
                case ChildExit():
                    return event, stage
                case _:
                    pass
        raise AssertionError("the last event of a job is its exit")

    def _take_variants(self, job: RunJob, event: ProgramRewritten) -> None:
        """Raises InvalidSeed where an earlier child had other variants."""
        if self.rewritten:
            if len(event.variants) != len(self.variants):
                raise InvalidSeed(self.name, "rewriting is not deterministic: a second attempt gave other variants")
            return
        self.rewritten = True
        self.variants = event.variants
        self.emit(
            SeedRewritten(
                index=self.index,
                seed=self.name,
                sites=event.sites,
                variants=len(self.variants),
                cells=event.cells,
                eager_seconds=round(event.eager_seconds, 3),
            )
        )
        if not job.list_sites:
            return
        source = job.program.source
        self.emit(SitesListed(index=self.index, seed=self.name, source=source, sites=list(event.listed_sites)))
        for number, record in enumerate(self.variants, 1):
            self.emit(
                VariantMade(
                    index=self.index,
                    seed=self.name,
                    variant=number,
                    exactness=record.exactness,
                    derivation=list(record.derivation),
                    source=record.source,
                )
            )

    def _take_report(self, report: CellReport) -> None:
        cell = Cell(
            report.variant,
            report.device,
            report.config,
            report.verdict,
            report.seconds,
            report.compiled,
            report.erased,
            report.only_graphs,
            report.apart,
        )
        if not cell.config:  # the eager check of a variant; an earlier child may have reported it already
            if cell.variant not in self.judged_variants:
                self.judged_variants.add(cell.variant)
                self._emit_cell(cell)
                if self.settings.keep_variants is not None and cell.verdict.kind is VerdictKind.AGREE:
                    record = self.variants[cell.variant - 1]
                    folder = self.settings.keep_variants
                    keep_variant(folder, self.name, record.source, record.rules, self.weights, untrusted=self.untrusted)
            return
        if report.features:
            self.features.setdefault(cell.variant, set()).update(report.features)
        key = (cell.variant, cell.device, cell.config)
        if key not in self.cells:  # a pool that lost its fork server starts the job again
            self.cells[key] = cell
            if not cell.verdict.is_finding:
                self._emit_cell(cell)

    def _without_crashed(self, job: RunJob, ended: ChildExit, stage: StageEntered | None) -> RunJob:
        """The job without what the child crashed on; the crash itself is judged here."""
        name, variant = (stage.stage, stage.variant) if stage is not None else ("start", 0)
        key = (variant, stage.device, stage.config) if stage is not None else (0, "", "")
        words = death_in_words(name, ended.reason, ended.detail)
        done = tuple(self.cells)
        has_process = any(config.name == key[2] and config.needs_process for config in job.configs)
        in_processes = job.in_batches and has_process and ended.reason != "output"
        if name in ("fork", "build") or (name == "compile" and in_processes):
            # Compiled cells have processes of their own there: this was the one that forks them.
            return dataclasses.replace(job, skip=done, in_batches=False)
        if name == "compile":
            kind = DEATHS[ended.reason]
            if ended.reason == "hang" and self._has_hung():
                kind, words = VerdictKind.INCONCLUSIVE, f"{words}: {NO_VERDICT}"
            self.cells[key] = Cell(*key, Verdict(kind, words), ended.wall_seconds)
            if not self.cells[key].verdict.is_finding:
                self._emit_cell(self.cells[key])
            return dataclasses.replace(job, skip=(*done, key))
        if name in ("speed", "device", "threads"):
            kind = VerdictKind.INCONCLUSIVE if name == "speed" else VerdictKind.UNSUPPORTED
            self.cells[key] = Cell(*key, Verdict(kind, words), ended.wall_seconds)
            self._emit_cell(self.cells[key])
            return dataclasses.replace(job, skip=(*done, key))
        if name == "steps":
            return dataclasses.replace(job, skip=done, no_sequence=(*job.no_sequence, variant))
        if name == "reference":
            return dataclasses.replace(job, skip=done, no_reference=(*job.no_reference, variant))
        if name == "eager" and variant > 0:
            self.judged_variants.add(variant)
            self._emit_cell(Cell(variant, "", "", Verdict(VerdictKind.SUSPECT_RULE, words), ended.wall_seconds))
            return dataclasses.replace(job, skip=done, skip_variants=(*job.skip_variants, variant))
        raise InvalidSeed(self.name, words)

    def _has_hung(self) -> bool:
        return any(cell.verdict.kind is VerdictKind.HANG for cell in self.cells.values())

    def _without_end(self) -> tuple[tuple[str, str], ...]:
        """Devices and configurations under which the original does not end."""
        originals = [cell for cell in self.cells.values() if cell.variant == 0]
        return tuple(
            (cell.device, cell.config)
            for cell in originals
            if cell.verdict.kind is VerdictKind.HANG or NO_VERDICT in cell.verdict.message
        )

    def _make_findings(self, original: Program) -> None:
        """Group the defective cells by symptom, and confirm one of each group, the most severe first."""
        confirmer = FindingConfirmer(
            self._job(original), self.variants, self.pool, self.environment, self.versions, self.is_confirmed
        )
        for group in symptom_groups(self.cells.values(), self.settings.baseline):
            cells = group.cells
            if group.has_original and group.symptom in self.settings.known_symptoms:
                self.symptoms.add(group.symptom)
                for cell in cells:
                    self._emit_cell(cell)
                continue
            confirmed = confirmer.confirm(cells, self.cells.get((0, cells[0].device, cells[0].config)))
            for cell in cells:
                if isinstance(confirmed, Verdict):
                    cell = dataclasses.replace(cell, verdict=confirmed)
                self._emit_cell(cell)
            if isinstance(confirmed, ConfirmedFinding):
                if group.has_original:
                    self.symptoms.add(group.symptom)
                self._emit_finding(confirmed)

    def _emit_finding(self, confirmed: ConfirmedFinding) -> None:
        bucketer = self.bucketer
        place = bucketer.assign(confirmed.finding, confirmed.folder) if bucketer is not None else BucketAssignment()
        self.emit(
            FindingReported(
                index=self.index,
                finding=confirmed.finding,
                folder=str(confirmed.folder),
                known=confirmed.known,
                bucket=place.bucket,
                kept=place.kept,
                issue=place.issue,
            )
        )

    def _emit_cell(self, cell: Cell) -> None:
        rules = self.variants[cell.variant - 1].rules if cell.variant else []
        self.emit(CellJudged.of(self.index, self.name, cell, rules))
