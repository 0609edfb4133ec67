"""Assigns the findings of a run to buckets and known issues."""

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
    """Bucket and known issue of a finding."""

    bucket: str = ""
    """Empty for a finding that was not localised."""
    kept: bool = True
    """False if its folder was removed because the bucket has enough members."""
    issue: str = ""
    """Address of its known issue; empty for none."""


class Bucketer:
    """Assigns findings to the buckets in the folder ``out``. Raises ValueError if these cannot be read."""

    def __init__(self, out: Path, issues: Sequence[KnownIssue]) -> None:
        self._buckets = Buckets(out)
        self._issues = issues
        self._reproduced: set[KnownIssue] = set()
        self._agreeing: set[str] = set()
        self._lock = threading.Lock()

    def assign(self, finding: Finding, folder: Path) -> BucketAssignment:
        """Assign a finding; its folder is removed if the bucket has enough members."""
        with self._lock:
            issue = self.issue_of(finding)
            self._reproduced.update(other for other in self._issues if other.fits(finding))
            address = issue.url if issue is not None else ""
            if not finding.fingerprint:
                return BucketAssignment(issue=address)
            is_kept = self._buckets.add(finding)
            if not is_kept:
                with contextlib.suppress(FileNotFoundError):  # another process had the same finding, and removed it
                    shutil.rmtree(folder)
            return BucketAssignment(bucket=self._buckets.of(finding), kept=is_kept, issue=address)

    def issue_of(self, finding: Finding) -> KnownIssue | None:
        """The known issue that a finding is, None if it is new."""
        return known_as(finding, self._issues, datetime.date.today())

    def note_event(self, event: Event) -> None:
        """Note seeds that compile correctly, see ``gone_issues``."""
        if not isinstance(event, CellJudged) or event.verdict.kind is not VerdictKind.AGREE:
            return
        if (event.variant, event.device, event.config) == (0, "cpu", DEFAULT_CONFIG.name):
            self._agreeing.add(event.seed)

    def gone_issues(self) -> list[str]:
        """Known issues that no longer reproduce, one line each: their seed compiles correctly, and no finding fits."""
        today, release = datetime.date.today(), this_release()
        return [
            f"{issue.url} ({issue.title or issue.fingerprint or issue.regex}): {seed} compiles correctly"
            for issue in self._issues
            if issue not in self._reproduced and issue.is_in(release) and not issue.has_expired(today)
            for seed in issue.seeds
            if any(is_named(name, seed) for name in self._agreeing)
        ]
