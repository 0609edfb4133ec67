"""``eqfuzz replay``: is a finding still there?"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import typer

from eqfuzz.cli.choice import OUT, FindingId, Interpreter, RunFolder, folder_of, interpreter_of
from eqfuzz.cli.exits import CLEAN, FINDINGS, INTERNAL


def replay(
    id: FindingId,
    out: RunFolder = OUT,
    python: Interpreter = sys.executable,
) -> None:
    """Run a finding again: FIXED or STILL FAILING?

    The reproducer runs in a fresh process; ERROR means that it could not tell.

    Exit codes: 0 fixed, 1 still failing, 2 no such finding, 3 the reproducer itself could not tell.
    """
    folder = folder_of(id, out)
    interpreter = interpreter_of(python)

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
