"""``eqfuzz findings`` and ``eqfuzz show``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import typer

from eqfuzz.cli.exit_codes import CLEAN, FINDINGS
from eqfuzz.cli.findings.lookup import buckets_in, finding_in, folder_of, listed_findings
from eqfuzz.cli.options.common import OUT, KnownIssueFiles, LinesFormat, ObjectFormat, OutputFormat, RunFolder
from eqfuzz.cli.options.findings import FindingId, OfBucket, OfKind, OnlyNew, OnlyRewritten, Sort, SortOrder
from eqfuzz.cli.options.values import BadOption, known_issues_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from eqfuzz.report.run.findings import ListedFinding


def findings(
    out: RunFolder = OUT,
    kind: OfKind = "",
    bucket: OfBucket = "",
    only_rewritten: OnlyRewritten = False,
    new: OnlyNew = False,
    sort: Sort = SortOrder.BUCKET,
    known_issues: KnownIssueFiles = None,
    format: LinesFormat = OutputFormat.TEXT,
) -> None:
    """List the findings of a run by bucket.

    Exit codes: 0 there are none, 1 there are, 2 no such run.
    """
    if not out.is_dir():
        raise BadOption("--out", f"{out}: no such folder")

    from eqfuzz.report.run.findings import print_listed
    from eqfuzz.report.terminal import make_console

    listed = listed_findings(out, known_issues_of(known_issues, False))
    ranks = _bucket_ranks(listed)
    chosen = [one for one in listed if kind in ("", str(one.finding.verdict.kind))]
    chosen = [one for one in chosen if one.finding.only_transformed or not only_rewritten]
    chosen = [one for one in chosen if not bucket or one.bucket.startswith(bucket)]
    chosen.sort(key=lambda one: (*_sort_key(sort, one, ranks), one.finding.id))
    if new:
        firsts: dict[str, ListedFinding] = {}
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


def _bucket_ranks(listed: Sequence[ListedFinding]) -> dict[str, int]:
    """The rank of the most severe finding of each bucket, or of each finding without one; 0 is the most severe."""
    ranks: dict[str, int] = {}
    for one in listed:
        name, rank = one.bucket or one.finding.id, one.finding.severity.rank
        ranks[name] = min(rank, ranks.get(name, rank))
    return ranks


def _sort_key(order: SortOrder, one: ListedFinding, bucket_ranks: Mapping[str, int]) -> tuple[Any, ...]:
    finding = one.finding
    kind, size, rank = str(finding.verdict.kind), len(finding.transformed.source), finding.severity.rank
    by_bucket = (bool(one.issue), bucket_ranks[one.bucket or finding.id], -one.size, one.bucket, rank, size)
    keys = {
        SortOrder.BUCKET: by_bucket,
        SortOrder.KIND: (rank, kind, *by_bucket),
        SortOrder.SEVERITY: (rank, *by_bucket),
        SortOrder.SEED: (finding.original.name, *by_bucket),
        SortOrder.SIZE: (size,),
    }
    return keys[order]


def show(id: FindingId, out: RunFolder = OUT, format: ObjectFormat = OutputFormat.TEXT) -> None:
    """Show a finding: its diff, cells and numbers.

    Where it was located, its faulty component too.

    Exit codes: 0 shown, 2 no such finding.
    """
    folder = folder_of(id, out)

    from eqfuzz.events.run import FindingReported
    from eqfuzz.report.run.finding_panel import print_finding
    from eqfuzz.report.terminal import make_console

    finding = finding_in(folder)
    bucket = buckets_in(out).of(finding) if finding.fingerprint else ""
    if format is OutputFormat.JSON:
        print(json.dumps({**finding.to_json(), "severity": str(finding.severity), "bucket": bucket}))
    else:
        event = FindingReported(index=0, finding=finding, folder=str(folder), known=False, bucket=bucket)
        print_finding(make_console(), event, str(out))
