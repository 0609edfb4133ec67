"""Report a run on the console or as JSON lines, and derive the exit code from its summary."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from eqfuzz.cli import logs
from eqfuzz.cli.exit_codes import CLEAN, USAGE, code_of, complain

if TYPE_CHECKING:
    from eqfuzz.events.event import Handler
    from eqfuzz.events.run import Summary
    from eqfuzz.mutate.settings import Settings
    from eqfuzz.report.machine.report_format import ReportTarget


def report_run(
    settings: Settings,
    run: Callable[[Handler], Summary],
    *,
    as_json: bool,
    quiet: bool,
    verbose: bool = False,
    reports: Sequence[ReportTarget] = (),
) -> int:
    """The exit code of ``run``, whose events are reported and logged; ``reports`` are written when it ends.

    Raises UsageError where one of them cannot be written.
    """
    from eqfuzz.events.event import to_all
    from eqfuzz.report.machine.json_lines import JsonLines
    from eqfuzz.report.machine.report_files import ReportFiles
    from eqfuzz.report.run.console import ConsoleReport
    from eqfuzz.report.terminal import make_console

    if as_json:
        report = JsonLines(sys.stdout)
    else:
        dry_run, diff = settings.dry_run, settings.diff
        report = ConsoleReport(
            make_console(), quiet=quiet, verbose=verbose, dry_run=dry_run, diff=diff, time_budget=settings.time
        )
    files = ReportFiles(reports)

    with files, report:
        summary = run(to_all(logs.log_event, report.handle, files.handle))
    code = code_of(interrupted=summary.interrupted, findings=summary.findings > 0, errors=summary.errors)
    if code == CLEAN and summary.seeds and summary.invalid == summary.seeds:
        first = summary.invalid_reasons[0]
        more = f" (and {summary.invalid - 1} more)" if summary.invalid > 1 else ""
        complain(f"no valid seed: {first.place}: {first.reason}{more}")
        return USAGE
    return code
