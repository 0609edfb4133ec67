"""Look up what a verb is about: the finding, all findings of a run, its buckets, another Python interpreter."""

from __future__ import annotations

import datetime
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from eqfuzz.cli.options.values import BadOption
from eqfuzz.errors import UsageError
from eqfuzz.program.suggestions import similar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from eqfuzz.program.release import Release
    from eqfuzz.report.run.findings import ListedFinding
    from eqfuzz.triage.findings.buckets import Buckets
    from eqfuzz.triage.findings.finding import Finding


def interpreter_of(python: str) -> tuple[str, Release]:
    """The path of an interpreter and the release of its torch. Raises UsageError."""
    from eqfuzz.program.release import NoTorch, release_of

    interpreter = shutil.which(python)
    if interpreter is None:
        raise BadOption("--python", f"{python}: no such program")
    try:
        return interpreter, release_of(interpreter)
    except NoTorch as error:
        raise BadOption("--python", str(error)) from None


def require_one_run(out: Path, option: str = "--out") -> None:
    """Raises UsageError where ``out``, of ``option``, is no run but holds several, as the folder of campaigns does."""
    if (out / "findings").is_dir():
        return
    inside = sorted(path.parent.name for path in out.glob("*/findings") if path.is_dir())
    if inside:
        more = ", …" if len(inside) > 5 else ""
        raise BadOption(option, f"{out} is no run but holds {', '.join(inside[:5])}{more}: give {out / inside[0]}")


def folder_of(id: str, out: Path) -> Path:
    """The folder of the one finding whose id begins with ``id``. Raises UsageError with suggestions."""
    require_one_run(out)
    findings = out / "findings"
    names = sorted(f.name for f in findings.glob("*") if (f / "repro.py").is_file() and not f.name.startswith("."))
    matches = [id] if id in names else [name for name in names if name.startswith(id)]
    if len(matches) == 1:
        return findings / matches[0]
    if len(matches) > 1:
        raise UsageError(f"{id!r} fits {len(matches)} findings: {', '.join(matches[:5])}; give more digits")
    if not names:
        raise UsageError(f"no findings in {findings}; give the run's folder with --out")
    close = similar(id, names, limit=3, cutoff=0.3) or names[:3]
    raise UsageError(f"no finding {id!r} in {findings}; close: {', '.join(close)}")


def finding_in(folder: Path) -> Finding:
    """The finding in ``folder``. Raises UsageError."""
    from eqfuzz.triage.findings.folder import read_finding

    try:
        return read_finding(folder)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{folder / 'finding.json'}: cannot be read: {error}") from None


def all_findings(out: Path) -> list[Finding]:
    """Every finding of the run folder ``out``, by id. Raises UsageError."""
    require_one_run(out)
    folders = sorted(f for f in (out / "findings").glob("*") if (f / "finding.json").is_file())
    return [finding_in(folder) for folder in folders if not folder.name.startswith(".")]


def buckets_in(out: Path) -> Buckets:
    """The buckets of the run folder ``out``. Raises UsageError."""
    from eqfuzz.triage.findings.buckets import Buckets

    try:
        return Buckets(out)
    except ValueError as error:
        raise UsageError(str(error)) from None


def listed_findings(out: Path, known_issues: Sequence[Path]) -> list[ListedFinding]:
    """Every finding of the run, with its bucket and its issue in the lists ``known_issues``. Raises UsageError."""
    from eqfuzz.report.run.findings import ListedFinding
    from eqfuzz.triage.findings.known_issues import known_as, read_known_issues

    buckets = buckets_in(out)
    by_name = buckets.all
    try:
        issues = read_known_issues(known_issues)
    except ValueError as error:
        raise UsageError(str(error)) from None
    today = datetime.date.today()
    listed: list[ListedFinding] = []
    for finding in all_findings(out):
        issue = known_as(finding, issues, today)
        name = buckets.of(finding) if finding.fingerprint else ""
        size = by_name[name].count if name in by_name else 1
        listed.append(ListedFinding(finding, name, size, issue.url if issue is not None else ""))
    return listed
