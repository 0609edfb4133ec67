"""``eqfuzz issue``: write a finding as a bug report for PyTorch."""

from __future__ import annotations

import json
import sys

from eqfuzz.cli.exit_codes import VerbFailed
from eqfuzz.cli.findings.lookup import finding_in, folder_of
from eqfuzz.cli.options.common import OUT, ObjectFormat, OutputFormat, RunFolder
from eqfuzz.cli.options.findings import FindingId, WithValues


def issue(
    id: FindingId, out: RunFolder = OUT, with_values: WithValues = False, format: ObjectFormat = OutputFormat.TEXT
) -> None:
    """Write a finding as a PyTorch issue.

    The file issue.md has the form of PyTorch's bug template and is written to the finding's folder. The reproducer is
    run once more, for its output. Recorded inputs are left out without --with-values. Nothing is sent anywhere.

    Exit codes: 0 written, 2 no such finding, 3 the reproducer failed.
    """
    folder = folder_of(id, out)

    from eqfuzz.program.release import this_release
    from eqfuzz.report.issue import issue_text
    from eqfuzz.run.protocol import RunnerFailed
    from eqfuzz.triage.confirm.replay import ERROR, replay, torch_versions
    from eqfuzz.triage.locate.torch_accuracy import own_checks
    from eqfuzz.triage.reproducer.script_files import VALUES, ReproducerScript

    finding = finding_in(folder)
    try:
        outcome = replay(folder)
        if outcome.status == ERROR:
            last_line = (outcome.output.strip().splitlines() or ["the reproducer printed nothing"])[-1]
            raise VerbFailed(f"{folder.name}: {last_line}")
        checks = own_checks(finding, folder, out) if finding.verdict.is_about_values else {}
    except RunnerFailed as error:
        raise VerbFailed(f"{folder.name}: {error}") from None
    script = ReproducerScript.read(folder)
    versions = torch_versions(sys.executable)
    text = issue_text(
        finding,
        script.with_values if with_values else script.text,
        outcome,
        checks,
        release=this_release(),
        versions=versions,
        beside=VALUES if script.values and not with_values else "",
    )
    (folder / "issue.md").write_text(text, encoding="utf-8")
    if format is OutputFormat.JSON:
        print(json.dumps({"event": "issue", "id": folder.name, "file": str(folder / "issue.md"), "text": text}))
    else:
        print(text)
