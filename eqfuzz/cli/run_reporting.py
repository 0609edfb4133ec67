"""A campaign told on the console or as JSON lines, and the exit code that its summary means."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from eqfuzz.cli import logs
from eqfuzz.cli.exit_codes import CLEAN, FINDINGS, INTERNAL, INTERRUPTED, USAGE, complain

if TYPE_CHECKING:
    from eqfuzz.events.event import Event, Handler
    from eqfuzz.events.run import Summary
    from eqfuzz.mutate.settings import Settings


def reported(
    settings: Settings, action: Callable[[Handler], Summary], *, as_json: bool, quiet: bool, junit: Path | None = None
) -> int:
    """The exit code of ``action``, which hands its events to the handler that it is given."""
    from eqfuzz.errors import UsageError
    from eqfuzz.report.machine.json_lines import JsonLines
    from eqfuzz.report.machine.junit import JUnitFile
    from eqfuzz.report.run.console import ConsoleReport, make_console
    from eqfuzz.run.protocol import RunnerFailed

    if as_json:
        report = JsonLines(sys.stdout)
    else:
        dry_run, diff = settings.dry_run, settings.diff
        report = ConsoleReport(make_console(), quiet=quiet, dry_run=dry_run, diff=diff, time_budget=settings.time)
    file = JUnitFile(junit) if junit is not None else None

    def handle(event: Event) -> None:
        logs.log_event(event)
        report.handle(event)
        if file is not None:
            file.handle(event)

    try:
        with report, file or contextlib.nullcontext():
            summary = action(handle)
    except UsageError as error:
        complain(str(error))
        return USAGE
    except RunnerFailed as error:
        hint = "" if settings.preload is not None else "; `eqfuzz doctor` tells what is missing"
        complain(f"no process that runs programs could be started: {error}{hint}")
        return USAGE
    return _exit_code(summary)


def _exit_code(summary: Summary) -> int:
    if summary.interrupted:
        complain("interrupted")
        return INTERRUPTED
    for error in summary.errors:
        complain(f"internal error: {error}")
    if summary.errors:
        return INTERNAL
    if summary.findings:
        return FINDINGS
    if summary.seeds and summary.invalid == summary.seeds:
        most = summary.invalid_reasons[0]
        more = f" (and {summary.invalid - 1} more)" if summary.invalid > 1 else ""
        complain(f"no valid seed: {most.place}: {most.reason}{more}")
        return USAGE
    return CLEAN
