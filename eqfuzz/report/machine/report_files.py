"""The files of ``--report``: all are made from one record when a run ends, however it ends."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from eqfuzz.atomic_file import write_atomically
from eqfuzz.closeable import Closeable
from eqfuzz.errors import UsageError
from eqfuzz.events.event import Event
from eqfuzz.report.machine.github import workflow_commands
from eqfuzz.report.machine.junit import junit_xml
from eqfuzz.report.machine.markdown import markdown_text
from eqfuzz.report.machine.report_format import ReportFormat, ReportTarget
from eqfuzz.report.machine.run_record import RunRecord
from eqfuzz.report.machine.sarif import sarif_text

STEP_SUMMARY = "GITHUB_STEP_SUMMARY"
"""The variable in which GitHub Actions names the file of a step's summary."""

_TEXTS: Mapping[ReportFormat, Callable[[RunRecord], str]] = {
    ReportFormat.JUNIT: junit_xml,
    ReportFormat.SARIF: sarif_text,
    ReportFormat.MARKDOWN: markdown_text,
}


class ReportFiles(Closeable):
    """Collects events, and writes all ``targets`` when it is closed; a context manager.

    Annotations for GitHub go to stderr, beside JSON lines on stdout. ``close`` raises UsageError where a file cannot be
    written, after it has written the others.
    """

    def __init__(self, targets: Sequence[ReportTarget]) -> None:
        self._targets = targets
        self._record = RunRecord()

    def handle(self, event: Event) -> None:
        """Take one event. Not to be called by two threads at once."""
        self._record.handle(event)

    def close(self) -> None:
        problems = []
        for target in self._targets:
            try:
                self._write(target)
            except OSError as error:
                problems.append(f"{target}: {error.strerror or error}")
        self._targets = ()
        if problems:
            raise UsageError(f"--report: {'; '.join(problems)}")

    def _write(self, target: ReportTarget) -> None:
        if target.format is ReportFormat.GITHUB:
            for command in workflow_commands(self._record):
                print(command, file=sys.stderr)
            sys.stderr.flush()
            summary = target.file or (Path(os.environ[STEP_SUMMARY]) if os.environ.get(STEP_SUMMARY) else None)
            if summary is not None:
                with summary.open("a", encoding="utf-8") as stream:  # earlier steps have written to it
                    stream.write(markdown_text(self._record) + "\n")
        elif target.file is not None:
            write_atomically(target.file, _TEXTS[target.format](self._record))
