"""``eqfuzz reduce``: the fewest rewrites that still show it."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING

import typer

from eqfuzz.cli.choice import OUT, FindingId, OneEvent, RunFolder, finding_in, folder_of
from eqfuzz.cli.exits import INTERNAL, complain
from eqfuzz.cli.options import Format

if TYPE_CHECKING:
    from eqfuzz.campaign.reducing import Tried


def reduce(id: FindingId, out: RunFolder = OUT, format: OneEvent = Format.TEXT) -> None:
    """Leave out the rewrites that a finding does not need.

    Subsets of its derivation are made again, checked in eager and compiled, until none of what is left can be left out
    (delta debugging). What is smaller is confirmed by its own script and becomes a finding beside the first.

    Exit codes: 0 reduced, or nothing to leave out, 2 no such finding, 3 it does not show again, 130 interrupted.
    """
    folder = folder_of(id, out)

    from eqfuzz.campaign.reducing import NotReduced, reduce_derivation
    from eqfuzz.report.console import make_console
    from eqfuzz.report.reducing import print_reduced, print_tried
    from eqfuzz.run.protocol import RunnerFailed

    console = make_console()
    as_json = format is Format.JSON

    def tell(tried: Tried) -> None:
        if as_json:
            print(json.dumps({"event": "tried", **dataclasses.asdict(tried)}), flush=True)
        else:
            print_tried(console, tried)

    finding = finding_in(folder)
    if len(finding.derivation) < 2:
        complain(f"{folder.name}: nothing to leave out: it has {len(finding.derivation) or 'no'} rewrite")
        return
    try:
        smaller = reduce_derivation(finding, folder, out, tell)
    except (NotReduced, RunnerFailed, OSError) as error:
        complain(f"{folder.name}: {' '.join(str(error).split())}")
        raise typer.Exit(INTERNAL) from None
    if as_json:
        told = {"event": "summary", "id": smaller.finding.id, "folder": str(smaller.folder)}
        print(json.dumps({**told, "derivation": [dataclasses.asdict(s) for s in smaller.finding.derivation]}))
    else:
        print_reduced(console, finding, smaller.finding, str(smaller.folder), str(out))
