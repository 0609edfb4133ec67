"""A campaign's figures: counted from its events, shown on screen, kept in ``stats.json`` and in the curve."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from eqfuzz.campaign.store.records import Json, StoredFinding
from eqfuzz.events.campaign import CampaignBlocked, EpochSettled, ItemEnded, ItemStarted, WorkerLost
from eqfuzz.events.event import Event
from eqfuzz.events.run import CellJudged, FindingReported, SeedDone, WorkerRestarted
from eqfuzz.oracle.compare.verdict import VerdictKind
from eqfuzz.triage.findings.severity import Severity, counted

COUNTED = ("programs", "invalid", "errors", "lost", "sites", "variants", "cells", "erased")
"""Whole numbers that only grow; `cpu_seconds` and `seconds` do too."""


class Statistics:
    """Sees every event of a call; ``begin`` adds what earlier calls did. May be asked from another thread."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began = clock()
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()
        self._verdicts: Counter[str] = Counter()
        self._cpu_seconds = 0.0
        self._seconds_before = 0.0
        self._peak_mb = 0
        self._features = 0
        self._lines = 0
        self._kept = 0
        self._epoch = 0
        self._curve: list[Json] = []
        self._yields: dict[str, dict[str, float]] = {}
        self._new: dict[str, str] = {}
        self._severities: dict[str, Severity] = {}
        self._known: set[str] = set()
        self._last_bucket: float | None = None
        self._restarted = 0
        self._lost_workers = 0
        self._running: dict[int, str] = {}
        self._waiting: CampaignBlocked | None = None
        self._cells_before = 0
        self.spending: Callable[[], Mapping[str, Any]] = dict
        """Figures of a source that costs money, where there is one."""

    def begin(self, curve: Iterable[Json], outcomes: Iterable[Json], findings: Iterable[StoredFinding]) -> None:
        """Take over what earlier calls did; they took as long as the last settled epoch says."""
        points = list(curve)
        self.take_over(points, outcomes, findings)
        with self._lock:
            self._seconds_before = points[-1]["seconds"] if points else 0.0
            self._cells_before = self._counts["cells"]

    def take_over(self, curve: Iterable[Json], outcomes: Iterable[Json], findings: Iterable[StoredFinding]) -> None:
        """Count what the store holds, whoever did it: settled epochs by their last point, later items by outcomes."""
        with self._lock:
            self._counts.clear()
            self._verdicts.clear()
            self._cpu_seconds = 0.0
            self._curve = list(curve)
            if self._curve:
                last = self._curve[-1]
                self._counts.update({name: last[name] for name in COUNTED})
                self._verdicts.update(last["verdicts"])
                self._cpu_seconds = last["cpu_seconds"]
                self._features, self._lines, self._kept = last["features"], last["lines"], last["kept"]
                self._epoch, self._peak_mb = last["epoch"], last["peak_mb"]
            for outcome in outcomes:
                add_outcome(self._counts, self._verdicts, outcome)
                self._cpu_seconds += outcome["cpu_seconds"]
            for finding in findings:
                self._note(finding.id, finding.bucket, finding.issue, finding.severity)

    def count(self, event: Event) -> None:
        with self._lock:
            match event:
                case ItemStarted(index=index, seed=seed):
                    self._running[index] = seed
                case ItemEnded(index=index):
                    self._running.pop(index, None)
                case SeedDone(peak_mb=peak_mb):
                    self._peak_mb = max(self._peak_mb, peak_mb)
                case FindingReported(finding=finding, bucket=bucket, issue=issue):
                    self._note(finding.id, bucket, issue, finding.severity, self._clock())
                case CellJudged():
                    pass  # counted when its item is stored: what is cut off does not count
                case EpochSettled(epoch=epoch, point=point, yields=yields):
                    self._epoch, self._yields = epoch, yields
                    self._features, self._lines, self._kept = point["features"], point["lines"], point["kept"]
                    self._curve.append(point)
                case CampaignBlocked(cause=cause):
                    self._waiting = event if cause else None
                case WorkerRestarted():
                    self._restarted += 1
                case WorkerLost():
                    self._lost_workers += 1
                case _:
                    pass

    def store(self, outcome: Json) -> None:
        """Count an item that was stored."""
        with self._lock:
            add_outcome(self._counts, self._verdicts, outcome)
            self._cpu_seconds += outcome["cpu_seconds"]

    def _note(self, finding: str, bucket: str, issue: str, severity: Severity, now: float | None = None) -> None:
        if issue:
            self._known.add(finding)
            return
        bucket = bucket or finding
        if now is not None and bucket not in self._new.values():
            self._last_bucket = now
        self._new[finding] = bucket
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
            return self._counts["cells"]

    def cpu_seconds(self) -> float:
        with self._lock:
            return self._cpu_seconds

    def buckets(self) -> int:
        """Buckets of findings that are no known issue."""
        with self._lock:
            return len(set(self._new.values()))

    def findings(self) -> tuple[int, int]:
        """New ones, and those of known issues."""
        with self._lock:
            return len(self._new), len(self._known)

    def figures(self) -> dict[str, Any]:
        """Everything at this moment, as JSON; seconds are wall seconds unless they are CPU's."""
        spending = self.spending()
        with self._lock:
            counts = {name: self._counts[name] for name in COUNTED}
            verdicts = {kind: self._verdicts[kind] for kind in sorted(self._verdicts)}
            cells, programs = counts["cells"], counts["programs"]
            flaky = verdicts.get(str(VerdictKind.FLAKY), 0)
            ago = None if self._last_bucket is None else round(self._clock() - self._last_bucket, 1)
            return {
                **counts,
                "valid_share": _share(programs - counts["invalid"], programs),
                "erased_share": _share(counts["erased"], cells),
                "stability": _share(cells - flaky, cells),
                "cells_per_second": round((cells - self._cells_before) / max(self.seconds, 1e-9), 3),
                "verdicts": verdicts,
                "findings": len(self._new),
                "buckets": len(set(self._new.values())),
                "severities": counted(self._severities.values()),
                "known": len(self._known),
                "last_bucket_seconds_ago": ago,
                "features": self._features,
                "lines": self._lines,
                "kept": self._kept,
                "epoch": self._epoch,
                "seconds": round(self.total_seconds, 1),
                "cpu_seconds": round(self._cpu_seconds, 1),
                "peak_mb": self._peak_mb,
                "running": [self._running[index] for index in sorted(self._running)],
                "workers_restarted": self._restarted,
                "workers_lost": self._lost_workers,
                "waiting": self._waiting.cause if self._waiting is not None else "",
                "waiting_detail": self._waiting.detail if self._waiting is not None else "",
                **spending,
            }

    def curve(self) -> list[Json]:
        with self._lock:
            return list(self._curve)

    def yields(self) -> dict[str, dict[str, float]]:
        with self._lock:
            return dict(self._yields)


def add_outcome(counts: Counter[str], verdicts: Counter[str], outcome: Json) -> None:
    """Add what came of one item."""
    counts["programs"] += 1
    counts["invalid"] += outcome["state"] == "invalid"
    counts["errors"] += outcome["state"] == "error"
    counts["lost"] += outcome["state"] == "lost"
    for name in ("sites", "variants", "cells", "erased"):
        counts[name] += outcome[name]
    verdicts.update(outcome["verdicts"])


def point_after(before: Json | None, outcomes: Iterable[Json], added: Mapping[str, Any]) -> dict[str, Any]:
    """The curve's next point: the figures of ``before`` with those of an epoch's ``outcomes``."""
    counts: Counter[str] = Counter()
    verdicts: Counter[str] = Counter()
    cpu_seconds, peak_mb = 0.0, 0
    if before is not None:
        counts.update({name: before[name] for name in COUNTED})
        verdicts.update(before["verdicts"])
        cpu_seconds, peak_mb = before["cpu_seconds"], before["peak_mb"]
    for outcome in outcomes:
        add_outcome(counts, verdicts, outcome)
        cpu_seconds += outcome["cpu_seconds"]
        peak_mb = max(peak_mb, outcome["peak_mb"])
    told = {name: counts[name] for name in COUNTED}
    return {
        **told,
        "verdicts": dict(sorted(verdicts.items())),
        "cpu_seconds": round(cpu_seconds, 3),
        "peak_mb": peak_mb,
        **added,
    }


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None
