"""Report a run on the console or as JSON lines, and derive the exit code from its summary."""

from __future__ import annotations

import contextlib
import re
import shlex
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from eqfuzz.cli import logs
from eqfuzz.cli.exit_codes import CLEAN, USAGE, code_of, complain

if TYPE_CHECKING:
    from eqfuzz.events.event import Event, Handler
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
    """The exit code of ``run``, whose events are reported, logged, and kept in its folder unless it is a dry run.

    ``reports`` are written when it ends. Raises UsageError where one of them cannot be written.
    """
    from eqfuzz.events.event import to_all
    from eqfuzz.report.machine.event_log import EVENTS, EventFile
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
    log = EventFile(settings.out / EVENTS) if not settings.dry_run else None
    unwritten = [_command_started()]

    def keep(event: Event) -> None:
        if log is not None and settings.out.is_dir():
            while unwritten:  # not before: a run that is refused leaves no folder
                log.handle(unwritten.pop())
            log.handle(event)

    with files, report, contextlib.closing(log) if log else contextlib.nullcontext():
        summary = run(to_all(logs.log_event, report.handle, files.handle, keep))
    code = code_of(interrupted=summary.interrupted, findings=summary.findings > 0, errors=summary.errors)
    if code == CLEAN and summary.seeds and summary.invalid == summary.seeds:
        first = summary.invalid_reasons[0]
        more = f" (and {summary.invalid - 1} more)" if summary.invalid > 1 else ""
        complain(f"no valid seed: {first.place}: {first.reason}{more}")
        return USAGE
    return code


def _command_started() -> Event:
    """The command line of this process, without passwords in addresses."""
    from eqfuzz.events.run import CommandStarted

    program, *arguments = sys.argv
    is_own = Path(program).name in ("eqfuzz", "__main__.py")
    command = re.sub(r"://[^/@\s]*@", "://…@", shlex.join(["eqfuzz", *arguments])) if is_own else ""
    return CommandStarted(command=command, folder=str(Path.cwd()), time=round(time.time(), 1))
