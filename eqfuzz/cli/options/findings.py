"""Options about findings: which one, which Python, how to list, known issues."""

from __future__ import annotations

import datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Direction(StrEnum):
    """Which values of a defect differ."""

    FORWARD = "forward"
    GRADIENT = "gradient"


class Access(StrEnum):
    """Whether a defect is in what is read or in what is written."""

    READ = "read"
    WRITE = "write"


class SortOrder(StrEnum):
    """What findings are sorted by."""

    BUCKET = "bucket"
    KIND = "kind"
    SEVERITY = "severity"
    SEED = "seed"
    SIZE = "size"


_ID = typer.Argument(metavar="ID", help="Id of the finding, or its first characters if they are unambiguous.")
FindingId = Annotated[str, _ID]
OptionalFindingId = Annotated[str | None, _ID]
BucketId = Annotated[str, typer.Argument(metavar="BUCKET", help="Id of a bucket, as `eqfuzz findings` lists it.")]

_PYTHON = typer.Option(
    "--python", metavar="INTERPRETER", help="Python interpreter with the torch to use (default: this one)."
)
Interpreter = Annotated[str, _PYTHON]
Interpreters = Annotated[
    list[str] | None,
    typer.Option(
        "--python",
        metavar="INTERPRETER",
        help="Python interpreter with the torch to use; repeatable (default: this one).",
    ),
]
OtherInterpreters = Annotated[
    list[str] | None,
    typer.Option(
        "--python",
        metavar="INTERPRETER",
        help="Python interpreter with another torch to try; repeatable (default: only this one's).",
    ),
]
Tracker = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Rank likely duplicates among these issues: `gh issue list --json` or its lines."
    ),
]
Quick = Annotated[bool, typer.Option("--quick", help="Try no mitigations, bisector and unit test.")]
TrialTimeout = Annotated[
    str, typer.Option("--timeout", metavar="TIME", help="Wall-clock limit of each run with a change, in seconds or 2m.")
]
AllFindings = Annotated[bool, typer.Option("--all", help="Replay every finding of the run.")]
OfBucket = Annotated[
    str, typer.Option("--bucket", metavar="BUCKET", help="Only findings of this bucket; its first characters do.")
]
OfKind = Annotated[str, typer.Option("--kind", metavar="KIND", help="Only this kind: wrong-result, compiler-crash, …")]
OnlyRewritten = Annotated[
    bool, typer.Option("--only-rewritten", help="Only findings that the original program does not show.")
]
OnlyNew = Annotated[bool, typer.Option("--new", help="Only findings that are no known issue, one of each bucket.")]
Sort = Annotated[
    SortOrder, typer.Option("--sort", help="Sort key; bucket: buckets by severity, then by number of findings.")
]
WithValues = Annotated[
    bool, typer.Option("--with-values", help="Recorded inputs are part of scripts, not of files beside them.")
]
Candidate = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Reduce nothing: exit 0 if this seed file shows the same finding, 1 if not."),
]

# Known issues
IssueFile = Annotated[
    Path | None, typer.Option("--file", metavar="FILE", help="List of known issues (default: ./known-issues.toml).")
]
IssueUrl = Annotated[str, typer.Option(metavar="URL", help="Where the defect is reported.")]
IssueTitle = Annotated[str, typer.Option(metavar="TEXT", help="Short title.")]
IssueRegex = Annotated[
    str, typer.Option(metavar="REGEX", help="Match findings by this regular expression, not by fingerprint.")
]
IssueExpiry = Annotated[
    datetime.datetime | None,
    typer.Option(formats=["%Y-%m-%d"], metavar="DATE", help="Day from which it counts as new again: 2027-06-30."),
]
IssueTorch = Annotated[
    str, typer.Option(metavar="RANGE", help="Releases of torch that have it: '>=2.13,<2.15' (default: all).")
]
IssueDirection = Annotated[
    Direction | None,
    typer.Option(help="Only findings whose gradients differ, or other values (default: either)."),
]
IssueAccess = Annotated[
    Access | None,
    typer.Option(help="Only findings in which what is written is wrong, or what is read (default: either)."),
]
