"""``eqfuzz bucket``: corrections by hand of what eqfuzz takes for one defect."""

from __future__ import annotations

from typing import Annotated

import typer

from eqfuzz.cli.exit_codes import USAGE, complain
from eqfuzz.cli.findings.lookup import OUT, FindingId, RunFolder, buckets_in, finding_in, folder_of
from eqfuzz.program.suggestions import did_you_mean

bucket = typer.Typer(
    help="Merge and split buckets by hand; later runs in the folder remember it.", no_args_is_help=True
)

BucketId = Annotated[str, typer.Argument(metavar="BUCKET", help="A bucket's id, as `eqfuzz findings` lists it.")]


@bucket.command("merge")
def merge(into: BucketId, other: BucketId, out: RunFolder = OUT) -> None:
    """Put everything of the second bucket into the first, now and from now on.

    Exit codes: 0 merged, 2 no such bucket.
    """
    buckets = buckets_in(out)
    for name in (into, other):
        if name not in buckets.all:
            complain(f"no bucket {name!r} in {out}{did_you_mean(name, list(buckets.all))}")
            raise typer.Exit(USAGE)
    buckets.merge(into, other)
    print(f"{into}: {buckets.all[into].count} findings")


@bucket.command("split")
def split(id: FindingId, out: RunFolder = OUT) -> None:
    """Give a finding a bucket of its own.

    Exit codes: 0 split, 2 no such finding, or it is in no bucket.
    """
    finding = finding_in(folder_of(id, out))
    try:
        name = buckets_in(out).split(finding)
    except KeyError:
        complain(f"{finding.id} is in no bucket")
        raise typer.Exit(USAGE) from None
    print(f"{name}: {finding.id}")
