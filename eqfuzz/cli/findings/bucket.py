"""``eqfuzz bucket``: correct by hand which findings belong to one defect."""

from __future__ import annotations

import typer

from eqfuzz.cli.findings.lookup import buckets_in, finding_in, folder_of
from eqfuzz.cli.options.common import OUT, RunFolder
from eqfuzz.cli.options.findings import BucketId, FindingId
from eqfuzz.errors import UsageError
from eqfuzz.program.suggestions import did_you_mean

bucket_verbs = typer.Typer(help="Merge and split buckets by hand.", no_args_is_help=True)


@bucket_verbs.command("merge")
def merge(into: BucketId, other: BucketId, out: RunFolder = OUT) -> None:
    """Move all findings of a bucket into another one.

    Later findings of the second bucket go into the first one too.

    Exit codes: 0 merged, 2 no such bucket.
    """
    buckets = buckets_in(out)
    for name in (into, other):
        if name not in buckets.all:
            raise UsageError(f"no bucket {name!r} in {out}{did_you_mean(name, list(buckets.all))}")
    buckets.merge(into, other)
    print(f"{into}: {buckets.all[into].count} findings")


@bucket_verbs.command("split")
def split(id: FindingId, out: RunFolder = OUT) -> None:
    """Move a finding into a bucket of its own.

    Exit codes: 0 split, 2 no such finding, or it is in no bucket.
    """
    finding = finding_in(folder_of(id, out))
    try:
        name = buckets_in(out).split(finding)
    except KeyError:
        raise UsageError(f"{finding.id} is in no bucket") from None
    print(f"{name}: {finding.id}")
