"""Findings sorted as they come: into buckets, and into known and new ones."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import shutil
import threading
from collections.abc import Sequence
from pathlib import Path

from eqfuzz.events.event import Event
from eqfuzz.events.run import CellJudged
from eqfuzz.oracle.compare.verdict import VerdictKind
from eqfuzz.program.release import this_release
from eqfuzz.run.configs.named import DEFAULT_CONFIG
from eqfuzz.triage.findings.buckets import Buckets
from eqfuzz.triage.findings.finding import Finding
from eqfuzz.triage.findings.known_issues import KnownIssue, is_named, known_as


@dataclasses.dataclass(frozen=True)
class BucketAssignment:
    """``bucket`` is empty for a finding that was not placed; one that is not ``kept`` has lost its folder.

    ``issue`` is the address of the known issue that it is.
    """

    bucket: str = ""
    kept: bool = True
    issue: str = ""


class Bucketer:
    """Sorts the findings of one run into the buckets of its folder. Raises ValueError where these cannot be read."""

    def __init__(self, out: Path, issues: Sequence[KnownIssue]) -> None:
        self._buckets = Buckets(out)
        self._issues = issues
        self._met: set[KnownIssue] = set()
        self._agreeing: set[str] = set()
        self._lock = threading.Lock()

    def assign(self, finding: Finding, folder: Path) -> BucketAssignment:
        """Where it belongs; the folder of a finding that its bucket has enough of is removed."""
        with self._lock:
            issue = known_as(finding, self._issues, datetime.date.today())
            self._met.update(other for other in self._issues if other.fits(finding))
            address = issue.url if issue is not None else ""
            if not finding.fingerprint:
                return BucketAssignment(issue=address)
            kept = self._buckets.add(finding)
            if not kept:
                with contextlib.suppress(FileNotFoundError):  # another process made the same finding, and removed it
                    shutil.rmtree(folder)
            return BucketAssignment(self._buckets.of(finding), kept, address)

    def count(self, event: Event) -> None:
        """Look at an event of the run for seeds that compile right by now."""
        if not isinstance(event, CellJudged) or event.verdict.kind is not VerdictKind.AGREE:
            return
        if (event.variant, event.device, event.config) == (0, "cpu", DEFAULT_CONFIG.name):
            self._agreeing.add(event.seed)

    def gone(self) -> list[str]:
        """Known issues that no longer reproduce: a seed that showed one was compiled, and nothing showed it."""
        today, release = datetime.date.today(), this_release()
        return [
            f"{issue.url} ({issue.title or issue.fingerprint or issue.regex}): {seed} compiles right"
            for issue in self._issues
            if issue not in self._met and issue.is_in(release) and not issue.has_expired(today)
            for seed in issue.seeds
            if any(is_named(name, seed) for name in self._agreeing)
        ]
