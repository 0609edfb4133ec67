"""``--report``: files and annotations that other programs read, beside what a verb prints."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from eqfuzz.cli.options.values import BadOption, require_writable_file
from eqfuzz.program.suggestions import did_you_mean
from eqfuzz.report.machine.report_format import ReportFormat, ReportTarget

Reports = Annotated[
    list[str] | None,
    typer.Option(
        "--report",
        metavar="FORMAT[=FILE]",
        help="Also report as junit=FILE, sarif=FILE, markdown=FILE or github (annotations, and the step's summary); "
        "repeatable.",
    ),
]


def report_targets(texts: Sequence[str] | None) -> tuple[ReportTarget, ...]:
    """The reports of ``--report``. Raises BadOption."""
    targets = tuple(_target(text) for text in texts or ())
    files = [target.file.absolute() for target in targets if target.file is not None]
    for file in files:
        if files.count(file) > 1:
            raise BadOption("--report", f"{file}: named for two reports")
    return targets


def _target(text: str) -> ReportTarget:
    name, _, file = text.partition("=")
    try:
        format = ReportFormat(name)
    except ValueError:
        names = [str(one) for one in ReportFormat]
        hint = did_you_mean(name, names) or f"; formats are {', '.join(names)}"
        raise BadOption("--report", f"{name!r} is no format{hint}") from None
    if not file and format is not ReportFormat.GITHUB:
        raise BadOption("--report", f"{format} needs a file: write {format}=FILE")
    target = ReportTarget(format, Path(file) if file else None)
    require_writable_file("--report", target.file)
    return target
