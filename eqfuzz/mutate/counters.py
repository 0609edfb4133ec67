"""Counters of a run, from its events to its summary."""

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
from eqfuzz.mutate.outcomes import SeedOutcomes
from eqfuzz.oracle.compare.verdict import VerdictKind
from eqfuzz.triage.findings.severity import Severity, counted


class SeedCounters:
    """Counts the compiled cells of any number of seeds, and their sites and variants."""

    def __init__(self) -> None:
        self.sites = 0
        self.variants = 0
        self.cells = 0
        self.erased = 0
        self.only_graphs = 0
        self.cell_verdicts: collections.Counter[str] = collections.Counter()
        self.compiled: collections.Counter[str] = collections.Counter()
        self.peak_mb = 0
        """MiB held by the largest process."""

    def count_event(self, event: Event) -> None:
        match event:
            case SeedRewritten(sites=sites, variants=variants):
                self.sites += sites
                self.variants += variants
            case CellJudged(config=config) if config:
                self.cells += 1
                self.erased += event.erased
                self.only_graphs += event.only_graphs
                self.cell_verdicts[str(event.verdict.kind)] += 1
                self.compiled.update(event.compiled or {})
            case SeedDone(peak_mb=peak_mb):
                self.peak_mb = max(self.peak_mb, peak_mb)
            case _:
                pass


class RunCounters(SeedCounters):
    """Counts every event of a run."""

    def __init__(self) -> None:
        super().__init__()
        self.seeds = 0
        self.outcomes = SeedOutcomes()
        self.invalid = InvalidSeeds()
        self.verdicts: collections.Counter[str] = collections.Counter()
        self.flaky: collections.Counter[str] = collections.Counter()
        self.findings: dict[str, Severity] = {}
        self.buckets: set[str] = set()
        self.known: set[str] = set()
        self.gone: list[str] = []
        self.errors: list[str] = []
        self._rule_variants: dict[str, set[tuple[int, int]]] = {}
        self._rule_verdicts: dict[str, collections.Counter[str]] = {}

    def count_event(self, event: Event) -> None:
        super().count_event(event)
        self.outcomes.count_event(event)
        match event:
            case SeedStarted():
                self.seeds += 1
            case SeedInvalid(index=index, seed=seed, reason=reason):
                self.invalid.add(index, seed, reason)
                self.verdicts[str(VerdictKind.INVALID_SEED)] += 1
            case CellJudged():
                self._count_verdict(event)
            case SeedDone(seed=seed):
                self.invalid.add_tried(seed)
            case FindingReported(finding=finding, issue=issue) if issue:
                self.known.add(finding.id)
            case FindingReported(finding=finding, bucket=bucket):
                self.findings[finding.id] = finding.severity
                self.buckets.add(bucket or finding.id)
            case _:
                pass

    def _count_verdict(self, cell: CellJudged) -> None:
        kind = str(cell.verdict.kind)
        for rule in set(cell.rules):
            self._rule_variants.setdefault(rule, set()).add((cell.index, cell.variant))
        if not cell.config and cell.verdict.kind is VerdictKind.AGREE:
            return  # an eager check, after which the variant has compiled cells
        self.verdicts[kind] += 1
        if cell.verdict.kind is VerdictKind.FLAKY:
            self.flaky[cell.verdict.cause] += 1
        for rule in set(cell.rules):
            self._rule_verdicts.setdefault(rule, collections.Counter())[kind] += 1

    def summary(
        self,
        *,
        seed: int,
        interrupted: bool,
        out_of_time: bool,
        left_out: list[str],
        seconds: float,
        cpu_seconds: float,
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
            only_graphs=self.only_graphs,
            verdicts=dict(sorted(self.verdicts.items())),
            findings=len(self.findings),
            rules=rules,
            errors=sorted(self.errors),
            interrupted=interrupted,
            out_of_time=out_of_time,
            left_out=left_out,
            seconds=round(seconds, 3),
            cpu_seconds=round(cpu_seconds, 3),
            peak_mb=self.peak_mb,
            buckets=len(self.buckets),
            known=len(self.known),
            flaky=dict(sorted(self.flaky.items())),
            gone=sorted(self.gone),
            invalid_reasons=self.invalid.reasons(),
            severities=counted(self.findings.values()),
            outcomes=self.outcomes.counts(),
            compiled=dict(self.compiled),
        )
