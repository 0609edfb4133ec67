"""``eqfuzz blame``: find the faulty pass or lowering of a finding."""

from __future__ import annotations

import dataclasses
import json
import sys

from eqfuzz.cli.exit_codes import VerbFailed
from eqfuzz.cli.findings.lookup import finding_in, folder_of, interpreter_of
from eqfuzz.cli.options.common import OUT, EventFormat, OutputFormat, RunFolder
from eqfuzz.cli.options.findings import FindingId, Interpreter


def blame(
    id: FindingId,
    out: RunFolder = OUT,
    python: Interpreter = sys.executable,
    format: EventFormat = OutputFormat.TEXT,
) -> None:
    """Find the pass or lowering at fault.

    Torch's own bisector runs the reproducer 15 to 30 times, with parts of the compiler switched off. The result is
    kept in the finding's folder.

    Exit codes: 0 found, 2 no such finding, 3 the bisector has no answer.
    """
    folder = folder_of(id, out)
    interpreter, _ = interpreter_of(python)

    from rich.text import Text

    from eqfuzz.report.formatting import printable
    from eqfuzz.report.terminal import make_console
    from eqfuzz.run.sandbox.launcher import SandboxUnavailable
    from eqfuzz.triage.findings.folder import update_finding
    from eqfuzz.triage.locate.bisection import NotBlamed, bisect

    finding = finding_in(folder)
    try:
        component = bisect(folder, finding, interpreter)
        update_finding(folder, dataclasses.replace(finding, blame=component))
    except (NotBlamed, SandboxUnavailable, OSError) as error:
        raise VerbFailed(f"{folder.name}: {error}") from None
    if format is OutputFormat.JSON:
        print(json.dumps({"event": "blamed", "id": folder.name, **dataclasses.asdict(component)}))
        return
    make_console().print(
        Text.assemble((printable(component.in_words()), "bold magenta"), f"  {folder.name}"), soft_wrap=True
    )
