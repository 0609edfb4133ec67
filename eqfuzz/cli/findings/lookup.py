"""Which finding a verb is about, and with which Python."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eqfuzz.cli.exit_codes import USAGE, complain
from eqfuzz.cli.options import OutputFormat
from eqfuzz.program.suggestions import similar

if TYPE_CHECKING:
    from eqfuzz.program.release import Release
    from eqfuzz.triage.findings.buckets import Buckets
    from eqfuzz.triage.findings.finding import Finding

OUT = Path("eqfuzz-out")

FindingId = Annotated[
    str, typer.Argument(metavar="ID", help="The finding's id, or its first digits where they are one's.")
]
RunFolder = Annotated[Path, typer.Option(metavar="DIR", help="The --out folder of the run that found it.")]
Interpreter = Annotated[
    str, typer.Option(metavar="INTERPRETER", help="Another Python, with another torch (default: this one).")
]
OneEvent = Annotated[OutputFormat, typer.Option(help="json: one event per line, the summary last.")]
OneObject = Annotated[OutputFormat, typer.Option(help="json: all of it as one object.")]


def interpreter_of(python: str) -> tuple[str, Release]:
    """Where that Python is, and which torch it has; otherwise one line on stderr and exit code 2."""
    from eqfuzz.program.release import NoTorch, release_of

    interpreter = shutil.which(python)
    try:
        if interpreter is None:
            raise NoTorch(f"{python}: no such program")
        return interpreter, release_of(interpreter)
    except NoTorch as error:
        complain(f"--python: {error}")
        raise typer.Exit(USAGE) from None


def folder_of(id: str, out: Path) -> Path:
    """The one finding whose id begins with ``id``; otherwise one line on stderr and exit code 2."""
    findings = out / "findings"
    known = sorted(f.name for f in findings.glob("*") if (f / "repro.py").is_file() and not f.name.startswith("."))
    fitting = [name for name in known if name.startswith(id)] if id else known
    if id in known:
        fitting = [id]
    if len(fitting) == 1:
        return findings / fitting[0]
    if len(fitting) > 1:
        complain(f"{id!r} fits {len(fitting)} findings: {', '.join(fitting[:5])}; give more digits")
    elif not known:
        complain(f"no findings in {findings}; give the run's folder with --out")
    else:
        close = similar(id, known, limit=3, cutoff=0.3) or known[:3]
        complain(f"no finding {id!r} in {findings}; close: {', '.join(close)}")
    raise typer.Exit(USAGE)


def finding_in(folder: Path) -> Finding:
    """The finding in ``folder``; otherwise one line on stderr and exit code 2."""
    from eqfuzz.triage.findings.folder import read_finding

    try:
        return read_finding(folder)
    except (OSError, ValueError, KeyError, TypeError) as error:
        complain(f"{folder / 'finding.json'}: cannot be read: {' '.join(str(error).split())}")
        raise typer.Exit(USAGE) from None


def all_findings(out: Path) -> list[Finding]:
    """Every finding of the run folder ``out``; otherwise one line on stderr and exit code 2."""
    folders = sorted(f for f in (out / "findings").glob("*") if (f / "finding.json").is_file())
    return [finding_in(folder) for folder in folders if not folder.name.startswith(".")]


def buckets_in(out: Path) -> Buckets:
    """The buckets of the run folder ``out``; otherwise one line on stderr and exit code 2."""
    from eqfuzz.triage.findings.buckets import Buckets

    try:
        return Buckets(out)
    except ValueError as error:
        complain(str(error))
        raise typer.Exit(USAGE) from None
