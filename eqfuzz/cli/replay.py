"""``eqfuzz replay``: is a finding still there?"""

from __future__ import annotations

import difflib
import json
import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer

from eqfuzz.cli.exits import CLEAN, FINDINGS, INTERNAL, USAGE, complain


def replay(
    id: Annotated[
        str, typer.Argument(metavar="ID", help="The finding's id, or its first digits where they are one's.")
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="The --out folder of the run that found it.")] = Path(
        "eqfuzz-out"
    ),
    python: Annotated[
        str, typer.Option(metavar="INTERPRETER", help="Another Python, with another torch (default: this one).")
    ] = sys.executable,
) -> None:
    """Run a finding again: FIXED or STILL FAILING?

    The reproducer runs in a fresh process; ERROR means that it could not tell.

    Exit codes: 0 fixed, 1 still failing, 2 no such finding, 3 the reproducer itself could not tell.
    """
    folder = _folder(out / "findings", id)
    interpreter = shutil.which(python)
    if interpreter is None:
        complain(f"--python: {python}: no such program")
        raise typer.Exit(USAGE)

    from rich.console import Console
    from rich.text import Text

    from eqfuzz.report.figures import printable
    from eqfuzz.triage.replay import FIXED, REPLAY_SECONDS, STILL_FAILING
    from eqfuzz.triage.replay import replay as run_reproducer

    outcome = run_reproducer(folder, interpreter, REPLAY_SECONDS)
    console = Console(highlight=False)
    for line in outcome.output.strip().splitlines():
        console.print(Text(f"  {printable(line)}", style="dim"), soft_wrap=True)
    style = {FIXED: "bold green", STILL_FAILING: "bold red"}.get(outcome.status, "bold yellow")
    console.print(Text.assemble((outcome.status, style), f"  {folder.name}  {_told(folder)}"), soft_wrap=True)
    raise typer.Exit({FIXED: CLEAN, STILL_FAILING: FINDINGS}.get(outcome.status, INTERNAL))


def _folder(findings: Path, id: str) -> Path:
    """The one finding whose id begins with ``id``; otherwise one line on stderr and exit code 2."""
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
        close = difflib.get_close_matches(id, known, n=3, cutoff=0.3) or known[:3]
        complain(f"no finding {id!r} in {findings}; close: {', '.join(close)}")
    raise typer.Exit(USAGE)


def _told(folder: Path) -> str:
    """``wrong-result: what the judge said``, as far as the folder tells; a reproducer alone can be replayed too."""
    file = folder / "verdict.json"
    if not file.is_file():
        return ""
    try:
        verdict = json.loads(file.read_text(encoding="utf-8"))
        return " ".join(f"{verdict['kind']}: {verdict['message']}".split())
    except (ValueError, KeyError, TypeError) as error:
        return f"({file} cannot be read: {error})"
