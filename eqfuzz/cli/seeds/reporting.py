"""What the verbs over seeds and models have in common: their report, and errors of the folder that they write to."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from eqfuzz.cli.exit_codes import CLEAN, INTERRUPTED, USAGE, complain
from eqfuzz.cli.options.values import BadOption

if TYPE_CHECKING:
    from eqfuzz.events.event import Handler
    from eqfuzz.events.seeds import SeedsSummary


def report(
    run: Callable[[Handler], SeedsSummary],
    noun: str,
    verb: str,
    *,
    out: Path | None = None,
    as_json: bool,
    quiet: bool,
) -> SeedsSummary:
    """Report the events of ``run``. Raises BadOption where ``out`` cannot be written to."""
    from eqfuzz.report.machine.json_lines import JsonLines
    from eqfuzz.report.terminal import make_console
    from eqfuzz.report.verbs.seeds import SeedsReport

    display = JsonLines(sys.stdout) if as_json else SeedsReport(make_console(), noun, verb, quiet=quiet)
    try:
        with display:
            return run(display.handle)
    except BrokenPipeError:
        raise
    except OSError as error:
        if out is None:
            raise
        raise BadOption("--out", f"{error.filename or out}: {error.strerror}") from None


def exit_code_of(summary: SeedsSummary) -> int:
    """2 where a seed or model has a problem."""
    if summary.interrupted:
        complain("interrupted")
        return INTERRUPTED
    return USAGE if summary.failed else CLEAN
