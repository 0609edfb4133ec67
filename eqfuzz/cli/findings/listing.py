"""``eqfuzz findings`` and ``eqfuzz show``: what a run has found."""

from __future__ import annotations

import datetime
import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eqfuzz.cli.exit_codes import CLEAN, FINDINGS, USAGE, complain
from eqfuzz.cli.findings.lookup import (
    OUT,
    FindingId,
    OneObject,
    RunFolder,
    all_findings,
    buckets_in,
    finding_in,
    folder_of,
)
from eqfuzz.cli.options import OutputFormat

if TYPE_CHECKING:
    from collections.abc import Mapping

    from eqfuzz.report.run.findings import Listed


class SortOrder(StrEnum):
    """What comes first."""

    BUCKET = "bucket"
    KIND = "kind"
    SEVERITY = "severity"
    SEED = "seed"
    SIZE = "size"


def findings(
    out: RunFolder = OUT,
    kind: Annotated[str, typer.Option(help="Only these kinds: wrong-result, compiler-crash …")] = "",
    bucket: Annotated[str, typer.Option(metavar="ID", help="Only those of this bucket.")] = "",
    only_rewritten: Annotated[
        bool, typer.Option("--only-rewritten", help="Only those that the original does not show.")
    ] = False,
    new: Annotated[bool, typer.Option("--new", help="Only those that are no known issue, one of each bucket.")] = False,
    sort: Annotated[
        SortOrder, typer.Option(help="What comes first; buckets: the gravest, then the largest.")
    ] = SortOrder.BUCKET,
    known_issues: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="More known issues (default: ./known-issues.toml)."),
    ] = None,
    format: Annotated[OutputFormat, typer.Option(help="json: one finding per line.")] = OutputFormat.TEXT,
) -> None:
    """List the findings of a run, by bucket: what has one cause stands together.

    Exit codes: 0 there are none, 1 there are, 2 no such run.
    """
    if not out.is_dir():
        complain(f"--out: {out}: no such folder")
        raise typer.Exit(USAGE)

    from eqfuzz.report.run.console import make_console
    from eqfuzz.report.run.findings import Listed, print_listed
    from eqfuzz.triage.findings.known_issues import known_as, known_issue_files, read_known_issues
    from eqfuzz.triage.findings.severity import Severity

    buckets = buckets_in(out)
    try:
        issues = read_known_issues(known_issue_files(known_issues or []))
    except ValueError as error:
        complain(str(error))
        raise typer.Exit(USAGE) from None
    today = datetime.date.today()
    listed: list[Listed] = []
    for finding in all_findings(out):
        known = known_as(finding, issues, today)
        name = buckets.of(finding) if finding.fingerprint else ""
        size = buckets.all[name].count if name in buckets.all else 1
        listed.append(Listed(finding, name, size, known.url if known is not None else ""))
    gravest: dict[str, int] = {}
    for one in listed:
        place = one.bucket or one.finding.id
        gravest[place] = min(one.finding.severity.rank, gravest.get(place, len(Severity)))
    chosen = [one for one in listed if kind in ("", str(one.finding.verdict.kind))]
    chosen = [one for one in chosen if one.finding.only_transformed or not only_rewritten]
    chosen = [one for one in chosen if not bucket or one.bucket.startswith(bucket)]
    chosen.sort(key=lambda one: (*_rank(sort, one, gravest), one.finding.id))
    if new:
        firsts: dict[str, Listed] = {}
        for one in chosen:
            if not one.issue:
                firsts.setdefault(one.bucket or one.finding.id, one)
        chosen = list(firsts.values())
    if format is OutputFormat.JSON:
        for one in chosen:
            more = {"severity": str(one.finding.severity), "bucket": one.bucket, "issue": one.issue}
            print(json.dumps({**one.finding.to_json(), **more}))
    elif chosen:
        print_listed(make_console(), chosen)
    else:
        print("no findings")
    raise typer.Exit(FINDINGS if chosen else CLEAN)


def _rank(order: SortOrder, one: Listed, gravest: Mapping[str, int]) -> tuple[Any, ...]:
    """``gravest`` has the rank of the gravest finding of each bucket."""
    finding = one.finding
    kind, size, own = str(finding.verdict.kind), len(finding.transformed.source), finding.severity.rank
    by_bucket = (bool(one.issue), gravest[one.bucket or finding.id], -one.size, one.bucket, own, size)
    ranks = {
        SortOrder.BUCKET: by_bucket,
        SortOrder.KIND: (own, kind, *by_bucket),
        SortOrder.SEVERITY: (own, *by_bucket),
        SortOrder.SEED: (finding.original.name, *by_bucket),
        SortOrder.SIZE: (size,),
    }
    return ranks[order]


def show(id: FindingId, out: RunFolder = OUT, format: OneObject = OutputFormat.TEXT) -> None:
    """Show a finding: the difference between the programs, the cells, the numbers, the place in the compiler.

    Exit codes: 0 shown, 2 no such finding.
    """
    folder = folder_of(id, out)

    from eqfuzz.events.run import FindingReported
    from eqfuzz.report.run.console import make_console
    from eqfuzz.report.run.finding_panel import print_finding

    finding = finding_in(folder)
    bucket = buckets_in(out).of(finding) if finding.fingerprint else ""
    if format is OutputFormat.JSON:
        print(json.dumps({**finding.to_json(), "severity": str(finding.severity), "bucket": bucket}))
    else:
        print_finding(make_console(), FindingReported(0, finding, str(folder), known=False, bucket=bucket), str(out))
