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

Start = RunStarted | CampaignStarted | ModelCheckStarted | CatalogueStarted
End = Summary | CampaignSummary | ModelCheckSummary | SweepSummary

NOT_COMPLETED = "not completed: the run ended before"


@dataclasses.dataclass
class SeedRecord:
    """What came of a seed: its findings, or why it was skipped, or the internal error that ended it."""

    seed: str
    seconds: float = 0.0
    """Wall seconds."""
    findings: list[FindingReported] = dataclasses.field(default_factory=list)
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
    def findings(self) -> list[FindingReported]:
        """The gravest first."""
        return sorted((one for seed in self.seeds for one in seed.findings), key=lambda one: one.finding.severity.rank)

    @property
    def new(self) -> list[FindingReported]:
        """The findings that are new, the gravest first."""
        return list(filter(self.is_new, self.findings))

    @property
    def all_errors(self) -> list[str]:
        """Internal errors, those that ended a seed with its name."""
        return [*self.errors, *(f"{seed.seed}: {seed.error}" for seed in self._seeds if seed.error)]

    @property
    def is_empty(self) -> bool:
        """Whether nothing was compiled."""
        return not self.verdicts and not (isinstance(self.end, SweepSummary) and self.end.judged)

    @property
    def is_complete(self) -> bool:
        """Whether it came to its end, and nothing was left out."""
        end = self.end
        if end is None or end.interrupted or self.all_errors:
            return False
        return isinstance(end, CampaignSummary) or not end.out_of_time

    def is_new(self, event: FindingReported) -> bool:
        """Whether it is no known issue."""
        return not event.issue

    def handle(self, event: Event) -> None:
        """Take one event. Not to be called by two threads at once."""
        match event:
            case RunStarted() | CampaignStarted() | ModelCheckStarted() | CatalogueStarted():
                self.start = self.start or event  # a check of a model has runs
            case ProgramSwept(program=program, seconds=seconds):
                self._seeds.append(SeedRecord(program, seconds))
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
                self._open_seed(index, finding.original.name).findings.append(event)
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
            case Summary() | CampaignSummary() | ModelCheckSummary() | SweepSummary():
                self._finish(event)
            case _:
                pass

    def _open_seed(self, index: int, seed: str) -> SeedRecord:
        return self._open.setdefault(index, SeedRecord(seed))

    def _finish(self, event: End) -> None:
        self.end = event
        if not isinstance(event, SweepSummary):
            self.errors = list(event.errors)
        if isinstance(event, Summary | CampaignSummary):
            self.invalid_reasons = event.invalid_reasons
        self._seeds += [SeedRecord(seed, skipped=NOT_COMPLETED) for seed in _left_out(event)]


def _left_out(event: End) -> Iterator[str]:
    match event:
        case Summary():
            yield from event.left_out
        case ModelCheckSummary():
            yield from (use.title for use in event.uses if use.outcome == "not tried")
        case _:
            pass
