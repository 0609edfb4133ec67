"""``eqfuzz findings`` and ``eqfuzz show``: what a run has found."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from eqfuzz.cli.choice import OUT, FindingId, OneObject, RunFolder, finding_in, folder_of
from eqfuzz.cli.exits import CLEAN, FINDINGS, USAGE, complain
from eqfuzz.cli.options import Format


def findings(
    out: RunFolder = OUT,
    kind: Annotated[str, typer.Option(help="Only these kinds: wrong-result, compiler-crash …")] = "",
    only_rewritten: Annotated[
        bool, typer.Option("--only-rewritten", help="Only those that the original does not show.")
    ] = False,
    format: Annotated[Format, typer.Option(help="json: one finding per line.")] = Format.TEXT,
) -> None:
    """List the findings of a run.

    Exit codes: 0 there are none, 1 there are, 2 no such run.
    """
    if not out.is_dir():
        complain(f"--out: {out}: no such folder")
        raise typer.Exit(USAGE)

    from eqfuzz.report.console import make_console
    from eqfuzz.report.findings import print_findings

    folders = sorted(f for f in (out / "findings").glob("*") if (f / "finding.json").is_file())
    chosen = [finding_in(folder) for folder in folders]
    chosen = [f for f in chosen if kind in ("", str(f.verdict.kind)) and (f.only_transformed or not only_rewritten)]
    if format is Format.JSON:
        for finding in chosen:
            print(json.dumps(finding.to_json()))
    elif chosen:
        print_findings(make_console(), sorted(chosen, key=lambda f: (f.place, str(f.verdict.kind), f.id)))
    else:
        print("no findings")
    raise typer.Exit(FINDINGS if chosen else CLEAN)


def show(id: FindingId, out: RunFolder = OUT, format: OneObject = Format.TEXT) -> None:
    """Show a finding: the difference between the programs, the cells, the numbers, the place in the compiler.

    Exit codes: 0 shown, 2 no such finding.
    """
    folder = folder_of(id, out)

    from eqfuzz.campaign.events import FindingMade
    from eqfuzz.report.console import make_console
    from eqfuzz.report.panel import print_finding

    finding = finding_in(folder)
    if format is Format.JSON:
        print(json.dumps(finding.to_json()))
    else:
        print_finding(make_console(), FindingMade(0, finding, str(folder), known=False), str(out))
