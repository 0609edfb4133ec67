"""``eqfuzz self-check``: does the oracle see what is wrong, and does it keep quiet where nothing is?"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from eqfuzz.cli.exit_codes import CLEAN, INTERNAL, INTERRUPTED, USAGE, complain
from eqfuzz.cli.exit_handling import ended
from eqfuzz.cli.options import OutputFormat


def self_check(
    full: Annotated[bool, typer.Option("--full", help="Measure recall and precision: the tables, for hours.")] = False,
    out: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Kernels; with --full, results, so that it can be continued.")
    ] = Path("eqfuzz-out/self-check"),
    draws: Annotated[int, typer.Option(min=1, help="With --full: faults of a kind per program and dtype.")] = 4,
    eager: Annotated[int, typer.Option(min=0, help="With --full: pairs of a program and its rewrite, eager.")] = 5000,
    compiled: Annotated[
        int, typer.Option(min=0, help="With --full: compiled programs, 3 in 10 ill-conditioned.")
    ] = 500,
    threaded: Annotated[int, typer.Option(min=0, help="With --full: compiled programs with several threads.")] = 200,
    jobs: Annotated[int | None, typer.Option(min=1, help="Programs at once (default: one per core).")] = None,
    format: Annotated[
        OutputFormat, typer.Option(help="json: one event per step, the summary last.")
    ] = OutputFormat.TEXT,
) -> None:
    """Check the oracle: clean programs must agree, and planted faults must be seen.

    Exit codes: 0 all well, 2 usage, 3 the oracle fails the check (or internal error), 130 interrupted.
    """
    workers = jobs or len(os.sched_getaffinity(0))
    as_json = format is OutputFormat.JSON
    raise typer.Exit(
        ended(
            lambda: _self_check(full, out, (draws, eager, compiled, threaded), workers, as_json=as_json),
            stopped=f"what was measured is in {out}" if full else "the check is not complete",
        )
    )


def _self_check(full: bool, out: Path, sizes: tuple[int, int, int, int], jobs: int, *, as_json: bool) -> int:
    from eqfuzz.report.machine.json_lines import JsonLines
    from eqfuzz.report.run.console import make_console
    from eqfuzz.report.verbs.self_check import SelfCheckReport
    from eqfuzz.run.protocol import RunnerFailed

    report = JsonLines(sys.stdout) if as_json else SelfCheckReport(make_console())
    try:
        with report:
            if full:
                from eqfuzz.commands.calibrate import Sizes, full_check

                summary = full_check(report.handle, out, Sizes(*sizes), jobs=jobs)
            else:
                from eqfuzz.mutate.self_check import quick_check

                summary = quick_check(report.handle, out)
    except RunnerFailed as error:
        complain(f"no process that runs programs could be started: {error}")
        return USAGE
    except KeyboardInterrupt:
        complain("interrupted")
        return INTERRUPTED
    if summary.interrupted:
        complain("interrupted")
        return INTERRUPTED
    if not summary.passed:
        complain(f"the oracle fails its check: {', '.join(summary.failed)}")
        return INTERNAL
    return CLEAN
