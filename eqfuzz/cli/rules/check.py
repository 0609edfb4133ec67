"""``eqfuzz rules check``: test that rules hold."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import typer

from eqfuzz.cli.exit_codes import code_of
from eqfuzz.cli.exit_handling import exit_code_of_long_run
from eqfuzz.cli.options.common import EventFormat, Jobs, OutputFormat
from eqfuzz.cli.options.rewriting import Draws, RuleSelection, RulesFrom
from eqfuzz.cli.options.values import job_count
from eqfuzz.cli.rules.selection import selected_rules

if TYPE_CHECKING:
    from pathlib import Path

    from eqfuzz.rewrite.rules.rule import Rule


def check(
    selection: RuleSelection = None,
    rules_from: RulesFrom = None,
    draws: Draws = 200,
    jobs: Jobs = None,
    format: EventFormat = OutputFormat.TEXT,
) -> None:
    """Test rules on random operands.

    Both sides of a rule must be as equal as it declares. Every rule is tested in a process of its own, which it may
    crash or hang.

    Exit codes: 0 all hold, 1 some do not, 2 usage, 3 internal error, 130 interrupted.
    """
    rules = selected_rules(selection, rules_from)
    raise typer.Exit(
        exit_code_of_long_run(
            lambda: _check(rules, draws, job_count(jobs), rules_from or [], as_json=format is OutputFormat.JSON),
            stopped="not all rules were tested",
        )
    )


def _check(rules: tuple[Rule, ...], draws: int, jobs: int, rules_from: list[Path], *, as_json: bool) -> int:
    from eqfuzz.commands.check_rules import check as run
    from eqfuzz.events.event import Event
    from eqfuzz.events.rules import RuleStarted
    from eqfuzz.report.machine.json_lines import JsonLines
    from eqfuzz.report.rules.check import CheckReport
    from eqfuzz.report.terminal import make_console

    report = JsonLines(sys.stdout) if as_json else CheckReport(make_console())

    def handle(event: Event) -> None:
        if not (as_json and isinstance(event, RuleStarted)):
            report.handle(event)

    with report:
        summary = run(rules, handle, draws=draws, jobs=jobs, rules_from=rules_from)
    return code_of(interrupted=summary.interrupted, findings=bool(summary.failed))
