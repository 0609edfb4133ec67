"""``eqfuzz config bisect``: which options turn a finding on or off?"""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Annotated

import typer

from eqfuzz.cli.config.fuzz import Only, Seed
from eqfuzz.cli.exit_codes import INTERNAL, USAGE, complain
from eqfuzz.cli.findings.lookup import OUT, FindingId, OneEvent, RunFolder, finding_in, folder_of
from eqfuzz.cli.options import OutputFormat, split_names

if TYPE_CHECKING:
    from eqfuzz.triage.locate.config_bisection import ConfigTrial


def bisect(
    id: FindingId,
    out: RunFolder = OUT,
    attempts: Annotated[
        int, typer.Option(min=1, help="Random configurations tried, where stock settings show it.")
    ] = 20,
    p: Annotated[float, typer.Option(min=0.0, max=1.0, help="Probability with which these change each option.")] = 0.1,
    only: Only = None,
    seed: Seed = 0,
    format: OneEvent = OutputFormat.TEXT,
) -> None:
    """Name the fewest options that turn a finding on, or off where stock settings show it.

    Subsets of the values that it was found under are compiled in processes of their own and compared, until none of
    what is left can be left out (delta debugging).

    Exit codes: 0 named, 2 no such finding, 3 it does not show again, or nothing turns it off, 130 interrupted.
    """
    folder = folder_of(id, out)

    from eqfuzz.report.run.console import make_console
    from eqfuzz.report.verbs.config import print_bisected, print_tried
    from eqfuzz.run.configs.options import SAMPLED_MODULES, UnknownOption, options_of
    from eqfuzz.run.protocol import RunnerFailed
    from eqfuzz.triage.locate import config_bisection as config_bisecting

    console = make_console()
    as_json = format is OutputFormat.JSON

    def tell(tried: ConfigTrial) -> None:
        if as_json:
            print(json.dumps({"event": "tried", **dataclasses.asdict(tried)}), flush=True)
        else:
            print_tried(console, tried)

    finding = finding_in(folder)
    try:
        options = options_of(SAMPLED_MODULES).chosen(split_names(only or []))
        tries = config_bisecting.Attempts(options, attempts, p, seed)
        found = config_bisecting.bisect(finding, folder, out, tries, tell)
    except UnknownOption as error:
        complain(f"--only: {error}")
        raise typer.Exit(USAGE) from None
    except (config_bisecting.NotBisected, RunnerFailed, OSError) as error:
        complain(f"{folder.name}: {' '.join(str(error).split())}")
        raise typer.Exit(INTERNAL) from None
    if as_json:
        print(json.dumps({"event": "summary", **dataclasses.asdict(found)}))
    else:
        print_bisected(console, found)
