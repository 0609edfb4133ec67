"""``eqfuzz issue``: write a finding as a bug report for PyTorch."""

from __future__ import annotations

import dataclasses
import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from eqfuzz.cli.exit_codes import VerbFailed
from eqfuzz.cli.findings.lookup import finding_in, folder_of, interpreter_of
from eqfuzz.cli.options.common import OUT, Jobs, KnownIssueFiles, ObjectFormat, OutputFormat, RunFolder
from eqfuzz.cli.options.findings import FindingId, OtherInterpreters, Quick, Tracker, TrialTimeout, WithValues
from eqfuzz.cli.options.values import BadOption, job_count, seconds_of, value_of
from eqfuzz.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from eqfuzz.triage.findings.finding import Finding
    from eqfuzz.triage.upstream.evidence import EvidencePlan, UpstreamEvidence
    from eqfuzz.triage.upstream.gate import GateWarning
    from eqfuzz.triage.upstream.tracker import LikelyDuplicate, TrackedIssue


def issue(
    id: FindingId,
    out: RunFolder = OUT,
    with_values: WithValues = False,
    python: OtherInterpreters = None,
    tracker: Tracker = None,
    quick: Quick = False,
    jobs: Jobs = None,
    timeout: TrialTimeout = "120",
    known_issues: KnownIssueFiles = None,
    format: ObjectFormat = OutputFormat.TEXT,
) -> None:
    """Write a finding as a PyTorch issue.

    The file issue.md has the form of PyTorch's bug template and is written to the finding's folder, beside its
    reproducer as test_fn.py and its unit_test.py. The reproducer runs three times, then with each mitigation, under
    torch's bisector and with each --python. What makes such reports close is printed as warnings on stderr. Recorded
    inputs are left out without --with-values. Nothing is sent anywhere.

    Exit codes: 0 written, with warnings too, 2 no such finding, 3 the reproducer failed.
    """
    folder = folder_of(id, out)
    seconds = seconds_of(timeout, "--timeout")
    if seconds <= 0:
        raise BadOption("--timeout", f"{timeout!r} leaves no time")
    pythons = dict(interpreter_of(name) for name in python or [])

    from eqfuzz.program.release import this_release
    from eqfuzz.report.issue import issue_text, labels_of, title
    from eqfuzz.run.protocol import RunnerFailed
    from eqfuzz.run.sandbox.launcher import SandboxUnavailable
    from eqfuzz.triage.confirm.replay import ERROR, torch_versions
    from eqfuzz.triage.locate.torch_accuracy import own_checks
    from eqfuzz.triage.reproducer.outcome import is_watched
    from eqfuzz.triage.reproducer.script_files import ISSUE, TEST_FUNCTION, UNIT_TEST, VALUES, ReproducerScript
    from eqfuzz.triage.upstream.evidence import EvidencePlan

    finding = finding_in(folder)
    issues = _issues_of(tracker)
    reported = _reported(finding, known_issues)
    script = ReproducerScript.read(folder)
    plan = EvidencePlan(
        title=title(finding),
        device=finding.device,
        is_watched=is_watched(finding),
        is_untrusted=finding.original.untrusted,
        pythons=pythons,
        jobs=job_count(jobs),
        seconds=seconds,
        is_quick=quick,
    )
    try:
        evidence = _evidence(
            finding,
            folder,
            script.with_values if with_values else script.text,
            plan,
            shows_progress=format is OutputFormat.TEXT,
        )
        if evidence.outcome.status == ERROR:
            last_line = (evidence.outcome.output.strip().splitlines() or ["the reproducer printed nothing"])[-1]
            raise VerbFailed(f"{folder.name}: {last_line}")
        checks = own_checks(finding, folder, out) if finding.verdict.is_about_values else {}
    except (RunnerFailed, SandboxUnavailable) as error:
        raise VerbFailed(f"{folder.name}: {error}") from None
    is_private = bool(script.values) and not with_values
    duplicates = _duplicates(finding, issues)
    warnings = _warnings(evidence, reported, duplicates, is_private=is_private)
    text = issue_text(
        finding,
        evidence,
        checks,
        release=this_release(),
        versions=torch_versions(sys.executable),
        beside=VALUES if is_private else "",
        warnings=warnings,
        duplicates=duplicates,
    )
    files = {ISSUE: text, TEST_FUNCTION: evidence.script.text}
    files |= {UNIT_TEST: evidence.test.text} if evidence.test is not None else {}
    for name, content in files.items():
        (folder / name).write_text(content, encoding="utf-8")
    if format is OutputFormat.TEXT:
        print(text)
        _print(warnings)
        return
    result = {
        "event": "issue",
        "id": folder.name,
        "file": str(folder / ISSUE),
        "labels": labels_of(finding, evidence),
        "warnings": [dataclasses.asdict(warning) for warning in warnings],
        "duplicates": [
            {"number": one.issue.number, "url": one.address, "score": round(one.score, 3), "shared": list(one.shared)}
            for one in duplicates
        ],
        "evidence": evidence.to_json(),
        "text": text,
    }
    print(json.dumps(result))


def _issues_of(tracker: Path | None) -> Sequence[TrackedIssue]:
    from eqfuzz.triage.upstream.tracker import read_tracker

    with value_of("--tracker"):
        return read_tracker(tracker) if tracker is not None else []


def _reported(finding: Finding, files: list[Path] | None) -> str:
    """Where the finding is reported already; empty where the lists of known issues do not say. Raises UsageError."""
    import datetime

    from eqfuzz.triage.findings.known_issues import known_as, known_issue_files, read_known_issues

    try:
        entry = known_as(finding, read_known_issues(known_issue_files(files or [])), datetime.date.today())
    except ValueError as error:
        raise UsageError(str(error)) from None
    return entry.url if entry is not None else ""


def _evidence(
    finding: Finding, folder: Path, script: str, plan: EvidencePlan, *, shows_progress: bool
) -> UpstreamEvidence:
    """Run the script in a folder of its own, with what it reads beside it. Raises SandboxUnavailable."""
    import shutil

    from eqfuzz.program.release import this_release
    from eqfuzz.report.issue import without_docstring
    from eqfuzz.report.live_display import LiveRenderer
    from eqfuzz.report.progress import ProgressCounter
    from eqfuzz.report.terminal import make_console
    from eqfuzz.triage.findings.folder import preload_in
    from eqfuzz.triage.reproducer.script_files import copy_script
    from eqfuzz.triage.upstream.evidence import EvidenceCollector

    with tempfile.TemporaryDirectory(prefix="eqfuzz-issue-") as place:
        copy_script(folder, finding.original, Path(place))
        preload = preload_in(folder)
        if preload is not None:
            shutil.copyfile(preload, Path(place) / "preload.py")
        collector = EvidenceCollector(Path(place), plan)
        if not shows_progress:
            return collector.collect(without_docstring(script), this_release())
        progress = ProgressCounter("runs")
        with LiveRenderer(make_console(stderr=True), progress):
            collector = EvidenceCollector(Path(place), plan, progress.advance)
            return collector.collect(without_docstring(script), this_release())


def _warnings(
    evidence: UpstreamEvidence, reported: str, duplicates: Sequence[LikelyDuplicate], *, is_private: bool
) -> list[GateWarning]:
    from eqfuzz.triage.upstream.gate import GateContext, gate
    from eqfuzz.triage.upstream.tracker import LIKELY

    alike = duplicates[0].address if duplicates and duplicates[0].score >= LIKELY else ""
    return gate(evidence, GateContext(reported=reported, alike=alike, reads_private=is_private))


def _duplicates(finding: Finding, issues: Sequence[TrackedIssue]) -> list[LikelyDuplicate]:
    from eqfuzz.report.issue_searches import importance
    from eqfuzz.triage.upstream.tracker import likely_duplicates

    return likely_duplicates(issues, importance(finding)) if issues else []


def _print(warnings: Sequence[GateWarning]) -> None:
    """The gate's warnings, a line each."""
    from eqfuzz.errors import one_line
    from eqfuzz.report.formatting import count, printable

    for warning in warnings:
        print(f"warning: {printable(one_line(str(warning), limit=600))}", file=sys.stderr)
    if warnings:
        print(f"{count(len(warnings), 'warning')}: see to them before you report it", file=sys.stderr)
