"""Metrics of a campaign: counted from its events, shown on screen, kept in ``stats.json`` and in the curve."""

from __future__ import annotations

import dataclasses
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Self

from eqfuzz.campaign.store.outcome import Outcome
from eqfuzz.campaign.store.records import Json, StoredFinding
from eqfuzz.oracle.compare.verdict import VerdictKind
from eqfuzz.triage.findings.severity import Severity, counted

if TYPE_CHECKING:
    from eqfuzz.events.campaign import CampaignBlocked
    from eqfuzz.events.event import Event

COUNTED = ("programs", "invalid", "errors", "lost", "sites", "variants", "cells", "erased", "only_graphs")
"""Whole numbers that only grow; ``cpu_seconds`` and ``seconds`` do too."""


@dataclasses.dataclass
class OutcomeTotals:
    """Sums over outcomes."""

    counts: Counter[str] = dataclasses.field(default_factory=Counter)
    """By the names in ``COUNTED``."""
    verdicts: Counter[str] = dataclasses.field(default_factory=Counter)
    cpu_seconds: float = 0.0
    triage_seconds: float = 0.0
    peak_mb: int = 0

    @classmethod
    def of_point(cls, point: Json | None) -> Self:
        """The totals at a point of the curve; empty without one."""
        if point is None:
            return cls()
        counts = Counter({name: point.get(name, 0) for name in COUNTED})
        triage = point.get("triage_seconds", 0.0)
        return cls(counts, Counter(point["verdicts"]), point["cpu_seconds"], triage, point["peak_mb"])

    def add(self, outcome: Outcome) -> None:
        self.counts["programs"] += 1
        self.counts["invalid"] += outcome.state == "invalid"
        self.counts["errors"] += outcome.state == "error"
        self.counts["lost"] += outcome.state == "lost"
        for name in ("sites", "variants", "cells", "erased", "only_graphs"):
            self.counts[name] += getattr(outcome, name)
        self.verdicts.update(outcome.verdicts)
        self.cpu_seconds += outcome.cpu_seconds
        self.triage_seconds += outcome.triage_seconds
        self.peak_mb = max(self.peak_mb, outcome.peak_mb)

    def to_json(self) -> dict[str, Any]:
        return {
            **{name: self.counts[name] for name in COUNTED},
            "verdicts": dict(sorted(self.verdicts.items())),
            "cpu_seconds": round(self.cpu_seconds, 3),
            "triage_seconds": round(self.triage_seconds, 3),
            "peak_mb": self.peak_mb,
        }


@dataclasses.dataclass
class RunningItem:
    """An item under way. ``cells`` is the number of its compiled cells, None until its seed is rewritten."""

    seed: str
    cells: int | None = None
    judged: int = 0


class CampaignMetrics:
    """Counts the events and outcomes of one call; ``load_earlier_calls`` adds those of earlier calls. Thread-safe."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began = clock()
        self._lock = threading.Lock()
        self._totals = OutcomeTotals()
        self._seconds_before = 0.0
        self._peak_mb = 0
        self._features = 0
        self._lines = 0
        self._corpus_size = 0
        self._epoch = 0
        self._curve: list[Json] = []
        self._yields: dict[str, dict[str, float]] = {}
        self._bucket_by_finding: dict[str, str] = {}
        self._severities: dict[str, Severity] = {}
        self._known: set[str] = set()
        self._last_bucket: float | None = None
        self._restarted = 0
        self._lost_workers = 0
        self._running: dict[int, RunningItem] = {}
        self._waiting: CampaignBlocked | None = None
        self._cells_before = 0
        self._spending: Mapping[str, Any] = {}

    def load_earlier_calls(
        self, curve: Iterable[Json], outcomes: Iterable[Outcome], findings: Iterable[StoredFinding]
    ) -> None:
        """Add earlier calls; their wall time is that of the last committed epoch."""
        points = list(curve)
        self.reload(points, outcomes, findings)
        with self._lock:
            self._seconds_before = points[-1]["seconds"] if points else 0.0
            self._cells_before = self._totals.counts["cells"]

    def reload(self, curve: Iterable[Json], outcomes: Iterable[Outcome], findings: Iterable[StoredFinding]) -> None:
        """Count what the store holds, of all processes: the last point of the curve and the outcomes after it."""
        with self._lock:
            self._curve = list(curve)
            last = self._curve[-1] if self._curve else None
            self._totals = OutcomeTotals.of_point(last)
            if last is not None:
                self._epoch = last["epoch"]
                self._features, self._lines, self._corpus_size = last["features"], last["lines"], last["kept"]
            for outcome in outcomes:
                self._totals.add(outcome)
            for finding in findings:
                self._add_finding(finding.id, finding.bucket, finding.issue, finding.severity)

    def count_event(self, event: Event) -> None:
        """Cells count with their item's outcome, so that those of an interrupted item do not; see ``running``."""
        # Here: what is stored is described without events, and they are a tenth of what `campaign list` imports.
        from eqfuzz.events.campaign import CampaignBlocked, EpochCommitted, ItemEnded, ItemStarted, WorkerLost
        from eqfuzz.events.run import CellJudged, FindingReported, ForkServerRestarted, SeedDone, SeedRewritten

        with self._lock:
            match event:
                case ItemStarted(index=index, seed=seed):
                    self._running[index] = RunningItem(seed)
                case ItemEnded(index=index):
                    self._running.pop(index, None)
                case SeedRewritten(index=index, cells=cells) if index in self._running:
                    self._running[index].cells = cells
                case CellJudged(index=index, config=config) if config and index in self._running:
                    self._running[index].judged += 1
                case SeedDone(peak_mb=peak_mb):
                    self._peak_mb = max(self._peak_mb, peak_mb)
                case FindingReported(finding=finding, bucket=bucket, issue=issue):
                    self._add_finding(finding.id, bucket, issue, finding.severity, self._clock())
                case EpochCommitted(epoch=epoch, point=point, yields=yields):
                    self._epoch, self._yields = epoch, yields
                    self._features, self._lines, self._corpus_size = point["features"], point["lines"], point["kept"]
                    self._curve.append(point)
                case CampaignBlocked(cause=cause):
                    self._waiting = event if cause else None
                case ForkServerRestarted():
                    self._restarted += 1
                case WorkerLost():
                    self._lost_workers += 1
                case _:
                    pass

    def count_outcome(self, outcome: Outcome) -> None:
        """Count an item whose outcome was stored."""
        with self._lock:
            self._totals.add(outcome)

    def record_reached(self, features: int, lines: int, corpus: int) -> None:
        """Take the numbers of reached features, traced lines and corpus entries, pending epochs included."""
        with self._lock:
            self._features, self._lines, self._corpus_size = features, lines, corpus

    def record_spending(self, figures: Mapping[str, Any]) -> None:
        """Take the current figures of a source that costs money."""
        with self._lock:
            self._spending = figures

    def _add_finding(self, finding: str, bucket: str, issue: str, severity: Severity, now: float | None = None) -> None:
        if issue:
            self._known.add(finding)
            return
        bucket = bucket or finding
        if now is not None and bucket not in self._bucket_by_finding.values():
            self._last_bucket = now
        self._bucket_by_finding[finding] = bucket
        self._severities[finding] = severity

    @property
    def seconds(self) -> float:
        """Wall seconds of this call."""
        return self._clock() - self._began

    @property
    def total_seconds(self) -> float:
        return self._seconds_before + self.seconds

    def cells(self) -> int:
        with self._lock:
            return self._totals.counts["cells"]

    def cpu_seconds(self) -> float:
        with self._lock:
            return self._totals.cpu_seconds

    def buckets(self) -> int:
        """Number of buckets of findings that are no known issue."""
        with self._lock:
            return len(set(self._bucket_by_finding.values()))

    def findings(self) -> tuple[int, int]:
        """Number of new findings, and of findings of known issues."""
        with self._lock:
            return len(self._bucket_by_finding), len(self._known)

    def figures(self) -> dict[str, Any]:
        """Everything at this moment, as JSON; seconds are wall seconds except in ``cpu_seconds``."""
        with self._lock:
            counts = {name: self._totals.counts[name] for name in COUNTED}
            verdicts = dict(sorted(self._totals.verdicts.items()))
            cells, programs = counts["cells"], counts["programs"]
            flaky = verdicts.get(str(VerdictKind.FLAKY), 0)
            ago = None if self._last_bucket is None else round(self._clock() - self._last_bucket, 1)
            return {
                **counts,
                "valid_share": _share(programs - counts["invalid"], programs),
                "erased_share": _share(counts["erased"], cells),
                "only_graphs_share": _share(counts["only_graphs"], cells),
                "stability": _share(cells - flaky, cells),
                "cells_per_second": round((cells - self._cells_before) / max(self.seconds, 1e-9), 3),
                "verdicts": verdicts,
                "findings": len(self._bucket_by_finding),
                "buckets": len(set(self._bucket_by_finding.values())),
                "severities": counted(self._severities.values()),
                "known": len(self._known),
                "last_bucket_seconds_ago": ago,
                "features": self._features,
                "lines": self._lines,
                "kept": self._corpus_size,
                "epoch": self._epoch,
                "seconds": round(self.total_seconds, 1),
                "cpu_seconds": round(self._totals.cpu_seconds, 1),
                "triage_seconds": round(self._totals.triage_seconds, 1),
                "peak_mb": max(self._peak_mb, self._totals.peak_mb),
                "running": [self._running[index].seed for index in sorted(self._running)],
                "workers_restarted": self._restarted,
                "workers_lost": self._lost_workers,
                "waiting": self._waiting.cause if self._waiting is not None else "",
                "waiting_detail": self._waiting.detail if self._waiting is not None else "",
                **self._spending,
            }

    def running(self) -> list[RunningItem]:
        """The items under way, the first one first."""
        with self._lock:
            return [dataclasses.replace(self._running[index]) for index in sorted(self._running)]

    def curve(self) -> list[Json]:
        with self._lock:
            return list(self._curve)

    def yields(self) -> dict[str, dict[str, float]]:
        """Reward per cost of each arm, by dimension."""
        with self._lock:
            return dict(self._yields)


def next_point(before: Json | None, outcomes: Iterable[Outcome], added: Mapping[str, Any]) -> dict[str, Any]:
    """The next point of the curve: the totals at ``before`` with an epoch's ``outcomes``, and the entries ``added``."""
    totals = OutcomeTotals.of_point(before)
    for outcome in outcomes:
        totals.add(outcome)
    return {**totals.to_json(), **added}


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None
