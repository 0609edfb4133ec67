"""Options that several verbs have: output, randomness, limits, isolation."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

OUT = Path("eqfuzz-out")


class OutputFormat(StrEnum):
    """How a verb reports its results: for people or for programs."""

    TEXT = "text"
    JSON = "json"


class LogLevel(StrEnum):
    """Least severe level that is logged."""

    DEBUG = "DEBUG"
    INFO = "INFO"
    WARNING = "WARNING"
    ERROR = "ERROR"


# Output
EventFormat = Annotated[OutputFormat, typer.Option(help="json: one event per line, the summary last.")]
LinesFormat = Annotated[OutputFormat, typer.Option(help="json: one object per line.")]
ObjectFormat = Annotated[OutputFormat, typer.Option(help="json: everything as one object.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print only findings, one line each, and the totals.")]
LogLevelOption = Annotated[
    LogLevel, typer.Option("--log-level", case_sensitive=False, help="Log to stderr; DEBUG: with step timings.")
]
Out = Annotated[Path, typer.Option(metavar="DIR", help="Folder for everything that the run writes.")]
RunFolder = Annotated[Path, typer.Option(metavar="DIR", help="Folder of the run: what it was called with as --out.")]

# Inputs and randomness
SeedPaths = Annotated[list[Path], typer.Argument(metavar="PATHS", help="Seed files, and folders of seed files.")]
OptionalSeedPaths = Annotated[
    list[Path] | None,
    typer.Argument(metavar="PATHS", help="Seed files, and folders of seed files (default: the shipped seeds)."),
]
_RANDOM_SEED = typer.Option(help="Random seed: decides every random choice.")
RandomSeed = Annotated[int, _RANDOM_SEED]
OptionalRandomSeed = Annotated[int | None, _RANDOM_SEED]

# Limits
Jobs = Annotated[int | None, typer.Option(min=1, help="Number of parallel jobs (default: one per core).")]
Time = Annotated[str | None, typer.Option(metavar="TIME", help="Stop after this long: 90, 10m, 1h30m.")]
Timeout = Annotated[str, typer.Option(metavar="TIME", help="Wall-clock limit of one compiled cell, in seconds or 2m.")]

# Processes
Preload = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Python file to run in every process that imports torch.")
]
_UNTRUSTED = typer.Option(
    "--untrusted", help="Run all seeds in the sandbox, not only those that a language model wrote."
)
_UNSAFE = typer.Option("--unsafe", help="Run untrusted seeds even where no sandbox is available (default: refuse).")
Untrusted = Annotated[bool, _UNTRUSTED]
OptionalUntrusted = Annotated[bool | None, _UNTRUSTED]
Unsafe = Annotated[bool, _UNSAFE]
OptionalUnsafe = Annotated[bool | None, _UNSAFE]
KnownIssueFiles = Annotated[
    list[Path] | None,
    typer.Option(
        "--known-issues",
        metavar="FILE",
        help="List of known issues beside the shipped one; repeatable (default: ./known-issues.toml).",
    ),
]
NoKnownIssues = Annotated[
    bool, typer.Option("--no-known-issues", help="Count every finding as new, those of the shipped list too.")
]
