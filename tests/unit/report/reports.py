"""Reports in files, made from events by hand."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from eqfuzz.events.catalogue import CatalogueStarted, ProgramSwept, SweepSummary
from eqfuzz.events.event import Event
from eqfuzz.events.run import FindingReported
from eqfuzz.oracle.compare.verdict import VerdictKind
from eqfuzz.report.machine.report_files import ReportFiles
from eqfuzz.report.machine.report_format import ReportFormat, ReportTarget
from eqfuzz.report.machine.run_record import RunRecord
from tests.unit.triage.findings import finding_of

HOSTILE = (
    "::error file=x,line=1::%0A |`a` ``` ~~~ </details><script>\n"
    "# @user #1 [x](y) \x1b[31m\udc80\uffff\\| \r\u2028* <!--"
)
"""Line breaks, control characters, a lone surrogate, and what each of the formats reads as its own."""

BUCKET = "b1234567"


def record_of(*events: Event) -> RunRecord:
    record = RunRecord()
    for event in events:
        record.handle(event)
    return record


def written(format: ReportFormat, path: Path, *events: Event) -> str:
    """The text of a report."""
    with ReportFiles([ReportTarget(format, path)]) as files:
        for event in events:
            files.handle(event)
    return path.read_text(encoding="utf-8")


def finding_event(folder: Path | str = "out/findings/x", index: int = 0, **changed: object) -> FindingReported:
    """A finding; ``changed`` are fields of it, and ``issue`` and ``bucket`` of the event."""
    of_event = {name: changed.pop(name) for name in ("issue", "bucket") if name in changed}
    kind = changed.pop("kind", VerdictKind.WRONG_RESULT)
    finding = finding_of(kind, **changed)
    return FindingReported(index=index, finding=finding, folder=str(folder), known=False, **of_event)


def hostile_event(folder: Path, script: str = HOSTILE) -> FindingReported:
    """A finding all of whose texts are hostile, with a reproducer."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "repro.py").write_text(script, encoding="utf-8", errors="surrogateescape")
    event = finding_event(folder, message=HOSTILE, bucket=BUCKET, fingerprint=HOSTILE)
    original = dataclasses.replace(event.finding.original, name=f"seeds/{HOSTILE}.py")
    finding = dataclasses.replace(event.finding, original=original, suspects=(HOSTILE,), config=HOSTILE)
    return dataclasses.replace(event, finding=finding)


def sweep(*findings: FindingReported) -> list[Event]:
    """A sweep of two programs, of whose five samples four were judged."""
    return [
        CatalogueStarted(
            catalogue="opinfo",
            seed=3,
            operators=2,
            dtypes=["float32", "int8"],
            pairs=4,
            earlier=0,
            out="out",
            versions={"eqfuzz": "0.1.0", "torch": "2.15.0", "build": "cpu"},
        ),
        *(
            ProgramSwept(program=name, outcomes={"agree": 2}, different=[], seconds=1.0, cpu_seconds=1.0)
            for name in ("float32/add.py", "int8/add.py")
        ),
        *findings,
        SweepSummary(
            samples=6,
            repeats=0,
            results=5,
            judged=4,
            left_out={"raises in eager": {"mul": 1}},
            without_gradient=0,
            drawing=[],
            outcomes={"float32": {"agree": 2}, "int8": {"agree": 1, "new": 1}},
            findings=len(findings),
            interrupted=False,
            out_of_time=True,
            seconds=9.0,
            cpu_seconds=9.0,
            out="out",
        ),
    ]
