"""What every report in a file is made of: the events of a run, by seed, with its first and its last event."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Iterator, Sequence

from eqfuzz.events.campaign import CampaignStarted, CampaignSummary, ItemEnded
from eqfuzz.events.catalogue import CatalogueStarted, ProgramSwept, SweepSummary
from eqfuzz.events.event import Event
from eqfuzz.events.generate import ProgramsRun
from eqfuzz.events.model_check import ModelCheckStarted, ModelCheckSummary
from eqfuzz.events.regressions import BucketCompared, DiffStarted, DiffSummary, ProgramCompared
from eqfuzz.events.run import (
    CellJudged,
    FindingReported,
    InvalidReason,
    RunStarted,
    SeedDone,
    SeedInvalid,
    SeedRewritten,
    SeedStarted,
    Summary,
)
from eqfuzz.report.machine.reported_finding import ReportedFinding

Start = RunStarted | CampaignStarted | ModelCheckStarted | CatalogueStarted | DiffStarted
End = Summary | CampaignSummary | ModelCheckSummary | SweepSummary | DiffSummary

NOT_COMPLETED = "not completed: the run ended before"


@dataclasses.dataclass
class SeedRecord:
    """What came of a seed: its findings, or why it was skipped, or the internal error that ended it."""

    seed: str
    seconds: float = 0.0
    """Wall seconds."""
    findings: list[ReportedFinding] = dataclasses.field(default_factory=list)
    skipped: str = ""
    error: str = ""


class RunRecord:
    """The events of a run, as far as reports in files need them."""

    def __init__(self) -> None:
        self.start: Start | None = None
        """None where it has not begun."""
        self.end: End | None = None
        """None where it has not come to an end in order."""
        self.programs: ProgramsRun | None = None
        """The outcomes of generated programs."""
        self.errors: list[str] = []
        """Internal errors that are about no seed."""
        self.invalid_reasons: Sequence[InvalidReason] = ()
        """The most frequent first."""
        self.verdicts: collections.Counter[str] = collections.Counter()
        """Number of compiled cells by verdict."""
        self.settings: collections.Counter[tuple[str, str]] = collections.Counter()
        """Number of compiled cells by configuration and device."""
        self.variants = 0
        """Number of rewritten variants."""
        self._seeds: list[SeedRecord] = []
        self._open: dict[int, SeedRecord] = {}

    @property
    def seeds(self) -> list[SeedRecord]:
        """The seeds that were run to their end, and those with findings, in the order in which they ended."""
        return [*self._seeds, *(seed for seed in self._open.values() if seed.findings)]

    @property
    def findings(self) -> list[ReportedFinding]:
        """The gravest first."""
        return sorted((one for seed in self.seeds for one in seed.findings), key=lambda one: one.rank)

    @property
    def new(self) -> list[ReportedFinding]:
        """The findings that are new, the gravest first."""
        return [one for one in self.findings if one.is_new]

    @property
    def all_errors(self) -> list[str]:
        """Internal errors, those that ended a seed with its name."""
        return [*self.errors, *(f"{seed.seed}: {seed.error}" for seed in self._seeds if seed.error)]

    @property
    def is_empty(self) -> bool:
        """Whether nothing was compiled."""
        match self.end:
            case SweepSummary(judged=number) | DiffSummary(programs=number):
                return not number
            case _:
                return not self.verdicts

    @property
    def is_complete(self) -> bool:
        """Whether it came to its end, and nothing was left out."""
        end = self.end
        if end is None or end.interrupted or self.all_errors:
            return False
        return isinstance(end, CampaignSummary) or not end.out_of_time

    def handle(self, event: Event) -> None:
        """Take one event. Not to be called by two threads at once."""
        match event:
            case RunStarted() | CampaignStarted() | ModelCheckStarted() | CatalogueStarted() | DiffStarted():
                self.start = self.start or event  # a check of a model has runs
            case ProgramSwept(program=program, seconds=seconds):
                self._seeds.append(SeedRecord(program, seconds))
            case ProgramCompared(program=program):
                self._seeds.append(SeedRecord(program))
            case BucketCompared(seed=seed):
                self._seed_named(seed).findings.append(ReportedFinding.of_bucket(event))
            case ProgramsRun():
                self.programs = event
            case SeedStarted(index=index, seed=seed):
                self._open.setdefault(index, SeedRecord(seed))
            case SeedRewritten(variants=variants):
                self.variants += variants
            case CellJudged(config=config, device=device, verdict=verdict) if config:
                self.verdicts[str(verdict.kind)] += 1
                self.settings[config, device] += 1
            case FindingReported(index=index, finding=finding):
                self._open_seed(index, finding.original.name).findings.append(ReportedFinding.of_run(event))
            case SeedInvalid(index=index, seed=seed, reason=reason):
                self._open_seed(index, seed).skipped = reason
            case SeedDone(index=index, seed=seed, seconds=seconds):
                record = self._open_seed(index, seed)
                record.seed, record.seconds = seed, seconds
                if not isinstance(self.start, CampaignStarted):  # which reports its findings afterwards
                    self._seeds.append(self._open.pop(index))
            case ItemEnded(index=index, seed=seed, state=state, reason=reason):
                record = self._open.pop(index, SeedRecord(seed))
                record.seed, record.error = seed, reason if state in ("error", "lost") else ""
                self._seeds.append(record)
            case Summary() | CampaignSummary() | ModelCheckSummary() | SweepSummary() | DiffSummary():
                self._finish(event)
            case _:
                pass

    def _seed_named(self, seed: str) -> SeedRecord:
        record = next((one for one in reversed(self._seeds) if one.seed == seed), None)
        if record is None:
            record = SeedRecord(seed)
            self._seeds.append(record)
        return record

    def _open_seed(self, index: int, seed: str) -> SeedRecord:
        return self._open.setdefault(index, SeedRecord(seed))

    def _finish(self, event: End) -> None:
        self.end = event
        if not isinstance(event, SweepSummary):
            self.errors = list(event.errors)
        if isinstance(event, Summary | CampaignSummary):
            self.invalid_reasons = event.invalid_reasons
        if isinstance(event, DiffSummary):
            for seed, reason in event.invalid.items():
                self._seed_named(seed).skipped = reason
        self._seeds += [SeedRecord(seed, skipped=NOT_COMPLETED) for seed in _left_out(event)]


def _left_out(event: End) -> Iterator[str]:
    match event:
        case Summary():
            yield from event.left_out
        case ModelCheckSummary():
            yield from (use.title for use in event.uses if use.outcome == "not tried")
        case DiffSummary():
            yield from event.not_tried
        case _:
            pass
