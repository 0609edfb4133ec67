"""``eqfuzz rules survival``: measure the compile depth of rules."""

from __future__ import annotations

import datetime
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from eqfuzz.cli.exit_codes import CLEAN, INTERRUPTED, complain
from eqfuzz.cli.exit_handling import exit_code_of_long_run
from eqfuzz.cli.options.common import EventFormat, Jobs, OutputFormat
from eqfuzz.cli.options.rewriting import DepthData, DepthPage, RuleSelection, RulesFrom
from eqfuzz.cli.options.values import job_count
from eqfuzz.cli.rules.selection import selected_rules

if TYPE_CHECKING:
    from eqfuzz.rewrite.rules.rule import Rule


def survival(
    selection: RuleSelection = None,
    rules_from: RulesFrom = None,
    jobs: Jobs = None,
    data: DepthData = None,
    page: DepthPage = None,
    format: EventFormat = OutputFormat.TEXT,
) -> None:
    """Measure the compile depth of rules.

    That is the last stage of the compiler at which both sides differ. Both are compiled up to the generated code;
    nothing is built or run. Random strategies prefer rules of great depth.

    Exit codes: 0 measured, 2 usage, 3 internal error, 130 interrupted.
    """
    rules = selected_rules(selection, rules_from)
    raise typer.Exit(
        exit_code_of_long_run(
            lambda: _survival(
                rules, job_count(jobs), rules_from or [], data, page, as_json=format is OutputFormat.JSON
            ),
            stopped="not all rules were measured",
        )
    )


def _survival(
    rules: tuple[Rule, ...], jobs: int, rules_from: list[Path], data: Path | None, page: Path | None, *, as_json: bool
) -> int:
    from eqfuzz.commands.compile_depth import survival as run
    from eqfuzz.events.event import Event
    from eqfuzz.events.rules import RuleMeasured, RuleStarted
    from eqfuzz.program.release import this_release
    from eqfuzz.report.machine.json_lines import JsonLines
    from eqfuzz.report.rules.compile_depth import CompileDepthReport, page_of
    from eqfuzz.report.terminal import make_console

    report = JsonLines(sys.stdout) if as_json else CompileDepthReport(make_console())
    measured: dict[str, RuleMeasured] = {}

    def handle(event: Event) -> None:
        if isinstance(event, RuleMeasured):
            measured[event.rule] = event
        if not (as_json and isinstance(event, RuleStarted)):
            report.handle(event)

    with report:
        summary = run(rules, handle, jobs=jobs, rules_from=rules_from)
    if summary.interrupted:
        complain("interrupted: nothing was written")
        return INTERRUPTED
    levels = {name: m.level for name, m in sorted(measured.items()) if m.level is not None}
    unmeasured = {name: m.reason for name, m in sorted(measured.items()) if m.level is None}
    provenance = {
        "command": "eqfuzz rules survival",
        "torch": str(this_release()),
        "date": datetime.date.today().isoformat(),
    }
    if data is not None:
        text = json.dumps({**provenance, "levels": levels, "unmeasured": unmeasured}, indent=1)
        data.write_text(text + "\n", encoding="utf-8")
    if page is not None:
        page.write_text(page_of(levels, unmeasured, provenance), encoding="utf-8")
    return CLEAN
