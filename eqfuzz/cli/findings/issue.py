"""``eqfuzz issue``: a finding as a bug report that can be pasted."""

from __future__ import annotations

import json
import sys

import typer

from eqfuzz.cli.exit_codes import INTERNAL, complain
from eqfuzz.cli.findings.lookup import OUT, FindingId, OneObject, RunFolder, finding_in, folder_of
from eqfuzz.cli.options import OutputFormat


def issue(id: FindingId, out: RunFolder = OUT, format: OneObject = OutputFormat.TEXT) -> None:
    """Write a finding as an issue in the form that PyTorch asks for: issue.md in its folder.

    Its reproducer is run once more, for what it prints. Nothing is sent anywhere.

    Exit codes: 0 written, 2 no such finding, 3 its reproducer could not tell.
    """
    folder = folder_of(id, out)

    from eqfuzz.program.release import this_release
    from eqfuzz.report.issue import issue_text
    from eqfuzz.run.protocol import RunnerFailed
    from eqfuzz.triage.confirm.replay import ERROR, replay, torch_versions
    from eqfuzz.triage.locate.torch_accuracy import own_checks

    finding = finding_in(folder)
    try:
        outcome = replay(folder)
        if outcome.status == ERROR:
            complain(f"{folder.name}: {(outcome.output.strip().splitlines() or ['the reproducer said nothing'])[-1]}")
            raise typer.Exit(INTERNAL)
        checks = own_checks(finding, folder, out) if finding.verdict.is_about_values else {}
    except RunnerFailed as error:
        complain(f"{folder.name}: {' '.join(str(error).split())}")
        raise typer.Exit(INTERNAL) from None
    script = (folder / "repro.py").read_text(encoding="utf-8")
    described = torch_versions(sys.executable)
    text = issue_text(finding, script, outcome, checks, release=this_release(), versions=described)
    (folder / "issue.md").write_text(text, encoding="utf-8")
    if format is OutputFormat.JSON:
        print(json.dumps({"event": "issue", "id": folder.name, "file": str(folder / "issue.md"), "text": text}))
    else:
        print(text)
