"""``eqfuzz blame``: which pass or lowering does a finding come from?"""

from __future__ import annotations

import dataclasses
import json
import sys

import typer

from eqfuzz.cli.exit_codes import INTERNAL, complain
from eqfuzz.cli.findings.lookup import (
    OUT,
    FindingId,
    Interpreter,
    OneObject,
    RunFolder,
    finding_in,
    folder_of,
    interpreter_of,
)
from eqfuzz.cli.options import OutputFormat


def blame(
    id: FindingId, out: RunFolder = OUT, python: Interpreter = sys.executable, format: OneObject = OutputFormat.TEXT
) -> None:
    """Name the pass or the lowering that a finding comes from.

    Torch's own bisector runs its reproducer 15 to 30 times, with more and less of the compiler switched on. What it
    tells is kept in the finding's folder.

    Exit codes: 0 named, 2 no such finding, 3 the bisector could not tell.
    """
    folder = folder_of(id, out)
    interpreter, _ = interpreter_of(python)

    from rich.text import Text

    from eqfuzz.report.formatting import printable
    from eqfuzz.report.run.console import make_console
    from eqfuzz.run.sandbox.launcher import SandboxUnavailable
    from eqfuzz.triage.findings.folder import keep
    from eqfuzz.triage.locate.bisection import NotBlamed, bisect

    finding = finding_in(folder)
    try:
        found = bisect(folder, finding, interpreter)
        keep(folder, dataclasses.replace(finding, blame=found))
    except (NotBlamed, SandboxUnavailable, OSError) as error:
        complain(f"{folder.name}: {' '.join(str(error).split())}")
        raise typer.Exit(INTERNAL) from None
    if format is OutputFormat.JSON:
        print(json.dumps({"event": "blamed", "id": folder.name, **dataclasses.asdict(found)}))
        return
    make_console().print(
        Text.assemble((printable(found.in_words()), "bold magenta"), f"  {folder.name}"), soft_wrap=True
    )
