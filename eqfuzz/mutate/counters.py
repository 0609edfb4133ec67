"""Counting a run: from its events to its summary."""

from __future__ import annotations

import collections

from eqfuzz.events.event import Event
from eqfuzz.events.run import (
    CellJudged,
    FindingReported,
    RuleTally,
    SeedDone,
    SeedInvalid,
    SeedRewritten,
    SeedStarted,
    Summary,
)
from eqfuzz.mutate.invalid_seeds import InvalidSeeds
from eqfuzz.oracle.compare.verdict import VerdictKind
from eqfuzz.triage.findings.severity import Severity, counted


class RunCounters:
    """Sees every event of a run and adds up."""

    def __init__(self) -> None:
        self.seeds = 0
        self.invalid = InvalidSeeds()
        self.sites = 0
        self.variants = 0
        self.cells = 0
        self.erased = 0
        self.peak_mb = 0
        self.verdicts: collections.Counter[str] = collections.Counter()
        self.flaky: collections.Counter[str] = collections.Counter()
        self.findings: dict[str, Severity] = {}
        self.buckets: set[str] = set()
        self.known: set[str] = set()
        self.gone: list[str] = []
        self.errors: list[str] = []
        self._rule_variants: dict[str, set[tuple[int, int]]] = {}
        self._rule_verdicts: dict[str, collections.Counter[str]] = {}

    def count(self, event: Event) -> None:
        match event:
            case SeedStarted():
                self.seeds += 1
            case SeedInvalid(index=index, seed=seed, reason=reason):
                self.invalid.add(index, seed, reason)
                self.verdicts[str(VerdictKind.INVALID_SEED)] += 1
            case SeedRewritten(sites=sites, variants=variants):
                self.sites += sites
                self.variants += variants
            case CellJudged():
                self._count_cell(event)
            case SeedDone(seed=seed, peak_mb=peak_mb):
                self.invalid.add_tried(seed)
                self.peak_mb = max(self.peak_mb, peak_mb)
            case FindingReported(finding=finding, issue=issue) if issue:
                self.known.add(finding.id)
            case FindingReported(finding=finding, bucket=bucket):
                self.findings[finding.id] = finding.severity
                self.buckets.add(bucket or finding.id)
            case _:
                pass

    def _count_cell(self, cell: CellJudged) -> None:
        kind = str(cell.verdict.kind)
        for rule in set(cell.rules):
            self._rule_variants.setdefault(rule, set()).add((cell.index, cell.variant))
        is_eager_check = not cell.config
        if is_eager_check and cell.verdict.kind is VerdictKind.AGREE:
            return  # counted by its compiled cells
        self.cells += not is_eager_check
        self.erased += cell.erased
        self.verdicts[kind] += 1
        if cell.verdict.kind is VerdictKind.FLAKY:
            self.flaky[cell.verdict.cause] += 1
        for rule in set(cell.rules):
            self._rule_verdicts.setdefault(rule, collections.Counter())[kind] += 1

    def summary(
        self, *, seed: int, interrupted: bool, out_of_time: bool, seconds: float, cpu_seconds: float
    ) -> Summary:
        rules = {
            name: RuleTally(variants=len(cells), verdicts=dict(sorted(self._rule_verdicts.get(name, {}).items())))
            for name, cells in sorted(self._rule_variants.items())
        }
        return Summary(
            seed=seed,
            seeds=self.seeds,
            invalid=len(self.invalid),
            sites=self.sites,
            variants=self.variants,
            cells=self.cells,
            erased=self.erased,
            verdicts=dict(sorted(self.verdicts.items())),
            findings=len(self.findings),
            rules=rules,
            errors=sorted(self.errors),
            interrupted=interrupted,
            out_of_time=out_of_time,
            seconds=round(seconds, 3),
            cpu_seconds=round(cpu_seconds, 3),
            peak_mb=self.peak_mb,
            buckets=len(self.buckets),
            known=len(self.known),
            flaky=dict(sorted(self.flaky.items())),
            gone=sorted(self.gone),
            invalid_reasons=self.invalid.reasons(),
            severities=counted(self.findings.values()),
        )
