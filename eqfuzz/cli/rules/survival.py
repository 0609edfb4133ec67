"""``eqfuzz rules survival``: how far does a rule get in the compiler?"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eqfuzz.cli.exit_codes import CLEAN, INTERRUPTED, USAGE, complain
from eqfuzz.cli.exit_handling import ended
from eqfuzz.cli.options import OutputFormat
from eqfuzz.cli.rules.library import RulesFrom, chosen

if TYPE_CHECKING:
    from eqfuzz.rewrite.rules.rule import Rule


def survival(
    selection: Annotated[
        list[str] | None,
        typer.Argument(metavar="[SELECTION...]", help="Families and names: 'shapes/*', add_function (default: all)."),
    ] = None,
    rules_from: RulesFrom = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Rules measured at once (default: one per core).")] = None,
    data: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the levels here (rewrites/survival.json)."),
    ] = None,
    page: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a page with the tables here.")] = None,
    format: Annotated[
        OutputFormat, typer.Option(help="json: one event per rule, the summary last.")
    ] = OutputFormat.TEXT,
) -> None:
    """Compile both sides of every rule up to the generated code, and tell the last stage at which they differ.

    Strategies draw rules that get far more often. Nothing is built or run.

    Exit codes: 0 done, 2 usage, 3 internal error, 130 interrupted.
    """
    found = chosen(selection, rules_from)
    workers = jobs or len(os.sched_getaffinity(0))
    raise typer.Exit(
        ended(
            lambda: _survival(found, workers, rules_from or [], data, page, as_json=format is OutputFormat.JSON),
            stopped="not all rules were measured",
        )
    )


def _survival(
    found: tuple[Rule, ...], jobs: int, rules_from: list[Path], data: Path | None, page: Path | None, *, as_json: bool
) -> int:
    import datetime

    from eqfuzz.commands.compile_depth import survival as run
    from eqfuzz.events.event import Event
    from eqfuzz.events.rules import RuleMeasured, RuleStarted
    from eqfuzz.program.release import this_release
    from eqfuzz.report.machine.json_lines import JsonLines
    from eqfuzz.report.rules.compile_depth import CompileDepthReport, page_of
    from eqfuzz.report.run.console import make_console
    from eqfuzz.run.protocol import RunnerFailed

    report = JsonLines(sys.stdout) if as_json else CompileDepthReport(make_console())
    measured: dict[str, RuleMeasured] = {}

    def handle(event: Event) -> None:
        if isinstance(event, RuleMeasured):
            measured[event.rule] = event
        if not (as_json and isinstance(event, RuleStarted)):
            report.handle(event)

    try:
        with report:
            summary = run(found, handle, jobs=jobs, rules_from=rules_from)
    except RunnerFailed as error:
        complain(f"no process that compiles rules could be started: {error}")
        return USAGE
    if summary.interrupted:
        complain("interrupted: nothing was written")
        return INTERRUPTED
    levels = {name: m.level for name, m in sorted(measured.items()) if m.level is not None}
    unmeasured = {name: m.reason for name, m in sorted(measured.items()) if m.level is None}
    made = {
        "command": "eqfuzz rules survival",
        "torch": str(this_release()),
        "date": datetime.date.today().isoformat(),
    }
    if data is not None:
        text = json.dumps({**made, "levels": levels, "unmeasured": unmeasured}, indent=1)
        data.write_text(text + "\n", encoding="utf-8")
    if page is not None:
        page.write_text(page_of(levels, unmeasured, made), encoding="utf-8")
    return CLEAN
