"""A finding as reports in files have it: of a run over seeds, or what became of a bucket between two torches."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from pathlib import Path

from eqfuzz.events.regressions import BucketCompared, BucketState
from eqfuzz.events.run import FindingReported
from eqfuzz.report.formatting import printable
from eqfuzz.report.machine.file_location import FindingLocation, location_of
from eqfuzz.report.run.finding_panel import one_line
from eqfuzz.triage.findings.finding import Finding
from eqfuzz.triage.findings.severity import Severity

SCRIPT_KIND = "script"
"""The kind of what a stand-alone script shows, which has no verdict."""


@dataclasses.dataclass(frozen=True)
class ReportedFinding:
    """A finding; the gravest of a bucket stands for it."""

    id: str
    """Id of the finding, or name of the script."""
    bucket: str
    """Empty for a finding that was not localised."""
    kind: str
    """The kind of verdict."""
    severity: Severity | None
    """None for a script."""
    message: str
    """The difference in words."""
    title: str
    """The fingerprint, or else what is known of the place."""
    line: str
    """Everything in a line or two, for logs."""
    seed: str
    """Name of the program."""
    seeds: int
    """Number of programs that it stands for."""
    script: Path
    """Path of the stand-alone script; the file may be gone."""
    issue: str
    """Address of its known issue; empty for none."""
    location: FindingLocation
    """Where it is shown."""
    state: BucketState | None = None
    """What became of it between two torches; None in a run with one."""
    finding: Finding | None = None
    """Everything else; None for a script."""

    @property
    def group(self) -> str:
        """What findings are counted together by."""
        return self.bucket or self.id

    @property
    def is_new(self) -> bool:
        """Whether it is no known issue, and no earlier torch shows it as far as that was looked at."""
        return not self.issue and self.state in (None, BucketState.NEW)

    @property
    def rank(self) -> int:
        """0 for the gravest."""
        return self.severity.rank if self.severity is not None else len(Severity)

    @classmethod
    def of_run(cls, event: FindingReported) -> ReportedFinding:
        finding = event.finding
        return cls(
            id=finding.id,
            bucket=event.bucket,
            kind=str(finding.verdict.kind),
            severity=finding.severity,
            message=finding.verdict.in_words,
            title=finding.fingerprint or finding.place,
            line=f"{one_line(event)}\n{event.issue or event.folder}",
            seed=finding.original.name,
            seeds=1,
            script=Path(event.folder, "repro.py"),
            issue=event.issue,
            location=location_of(finding, event.folder),
            finding=finding,
        )

    @classmethod
    def of_bucket(cls, event: BucketCompared) -> ReportedFinding:
        finding = event.finding
        script = Path(event.script)
        outcomes = f"base {event.base.lower()}, head {event.head.lower()}"
        return cls(
            id=finding.id if finding is not None else event.bucket,
            bucket=event.bucket,
            kind=event.kind,
            severity=finding.severity if finding is not None else None,
            message=event.message,
            title=event.title,
            line=printable(f"{event.state}: {event.kind} {event.bucket} {event.seed}: {event.message}\n{outcomes}"),
            seed=event.seed,
            seeds=len(event.seeds),
            script=script,
            issue=event.issue,
            location=FindingLocation.of(script) if finding is None else location_of(finding, str(script.parent)),
            state=event.state,
            finding=finding,
        )


def by_group(findings: Iterable[ReportedFinding]) -> list[list[ReportedFinding]]:
    """The findings of each bucket, in the order of the first ones."""
    groups: dict[str, list[ReportedFinding]] = {}
    for one in findings:
        groups.setdefault(one.group, []).append(one)
    return list(groups.values())
