"""``eqfuzz reduce``: a finding made smaller while it stays the same finding."""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eqfuzz.cli.exit_codes import CLEAN, FINDINGS, INTERNAL, USAGE, complain
from eqfuzz.cli.findings.lookup import OUT, FindingId, OneEvent, RunFolder, finding_in, folder_of
from eqfuzz.cli.options import BadOption, OutputFormat, seconds_of

if TYPE_CHECKING:
    from eqfuzz.triage.reduce.finding_reducer import ReductionTry


def reduce(
    id: FindingId,
    out: RunFolder = OUT,
    time: Annotated[str, typer.Option(metavar="TIME", help="Stop with the smallest found after this long.")] = "10m",
    jobs: Annotated[int | None, typer.Option(min=1, help="Programs tried at once (default: one per core).")] = None,
    candidate: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Only say by the exit code whether this seed file shows the same."),
    ] = None,
    format: OneEvent = OutputFormat.TEXT,
) -> None:
    """Make a finding smaller while it stays the same finding.

    First its rewrites (delta debugging), then the program, then the configuration. The reduced finding takes the place
    of the first, which stays in its folder as unreduced/. An interrupted reduction goes on where it was. For other
    reducers there is --candidate: exit code 0 where the file shows the same finding, 1 where it does not.

    Exit codes: 0 reduced, 2 no such finding or file, 3 it does not show again, 130 interrupted.
    """
    folder = folder_of(id, out)
    try:
        seconds = seconds_of(time, "--time")
    except BadOption as error:
        complain(str(error))
        raise typer.Exit(USAGE) from None

    from eqfuzz.program.program import InvalidSeed
    from eqfuzz.report.run.console import make_console
    from eqfuzz.report.verbs.reduce import Curve, print_reduced
    from eqfuzz.run.protocol import RunnerFailed
    from eqfuzz.triage.reduce.finding_reducer import NotReduced
    from eqfuzz.triage.reduce.in_place import InPlaceReduction, shows_finding

    finding = finding_in(folder)
    jobs = jobs or len(os.sched_getaffinity(0))
    console = make_console()
    try:
        if candidate is not None:
            raise typer.Exit(CLEAN if shows_finding(finding, folder, out, candidate) else FINDINGS)
        if format is OutputFormat.JSON:
            smaller = InPlaceReduction(finding, folder, out, _print_tried, seconds=seconds, jobs=jobs).run()
        else:
            with Curve(console) as curve:
                smaller = InPlaceReduction(finding, folder, out, curve.take, seconds=seconds, jobs=jobs).run()
    except InvalidSeed as error:
        complain(str(error))
        raise typer.Exit(USAGE) from None
    except (NotReduced, RunnerFailed, OSError) as error:
        complain(f"{folder.name}: {' '.join(str(error).split())}")
        raise typer.Exit(INTERNAL) from None
    if format is OutputFormat.JSON:
        told = {"event": "summary", "id": smaller.id, "folder": str(folder)}
        derivation = [dataclasses.asdict(step) for step in smaller.derivation]
        reduced = dataclasses.asdict(smaller.reduced) if smaller.reduced is not None else None
        print(json.dumps({**told, "derivation": derivation, "reduced": reduced}))
    else:
        print_reduced(console, smaller, str(folder), str(out))


def _print_tried(tried: ReductionTry) -> None:
    print(json.dumps({"event": "tried", **dataclasses.asdict(tried)}), flush=True)
