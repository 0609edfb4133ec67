"""``eqfuzz self-check``: check that the oracle detects planted faults and accepts clean programs."""

from __future__ import annotations

import sys
from pathlib import Path

import typer

from eqfuzz.cli.exit_codes import CLEAN, INTERNAL, INTERRUPTED, complain
from eqfuzz.cli.exit_handling import exit_code_of_long_run
from eqfuzz.cli.options.common import EventFormat, Jobs, OutputFormat
from eqfuzz.cli.options.self_check import (
    CompiledPrograms,
    EagerPairs,
    FaultDraws,
    Full,
    SelfCheckFolder,
    ThreadedPrograms,
)
from eqfuzz.cli.options.values import job_count


def self_check(
    full: Full = False,
    out: SelfCheckFolder = Path("eqfuzz-out/self-check"),
    draws: FaultDraws = 4,
    eager: EagerPairs = 5000,
    compiled: CompiledPrograms = 500,
    threaded: ThreadedPrograms = 200,
    jobs: Jobs = None,
    format: EventFormat = OutputFormat.TEXT,
) -> None:
    """Check the oracle by planted faults.

    Clean programs must agree, planted faults must be detected.

    Exit codes: 0 passed, 2 usage, 3 the oracle fails the check, or internal error, 130 interrupted.
    """
    sizes = draws, eager, compiled, threaded
    raise typer.Exit(
        exit_code_of_long_run(
            lambda: _self_check(full, out, sizes, job_count(jobs), as_json=format is OutputFormat.JSON),
            stopped=f"measurements so far are in {out}" if full else "the check is not complete",
        )
    )


def _self_check(full: bool, out: Path, sizes: tuple[int, int, int, int], jobs: int, *, as_json: bool) -> int:
    from eqfuzz.report.machine.json_lines import JsonLines
    from eqfuzz.report.terminal import make_console
    from eqfuzz.report.verbs.self_check import SelfCheckReport

    with JsonLines(sys.stdout) if as_json else SelfCheckReport(make_console()) as report:
        if full:
            from eqfuzz.commands.calibrate import Sizes, full_check

            summary = full_check(report.handle, out, Sizes(*sizes), jobs=jobs)
        else:
            from eqfuzz.mutate.self_check import quick_check

            summary = quick_check(report.handle, out)
    if summary.interrupted:
        complain("interrupted")
        return INTERRUPTED
    if not summary.passed:
        complain(f"the oracle fails its check: {', '.join(summary.failed)}")
        return INTERNAL
    return CLEAN
