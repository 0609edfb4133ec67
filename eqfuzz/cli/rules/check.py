"""``eqfuzz rules check``: does a rule hold?"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from eqfuzz.cli.exit_codes import CLEAN, FINDINGS, INTERRUPTED, USAGE, complain
from eqfuzz.cli.exit_handling import ended
from eqfuzz.cli.options import OutputFormat
from eqfuzz.cli.rules.library import RulesFrom, chosen

if TYPE_CHECKING:
    from pathlib import Path

    from eqfuzz.rewrite.rules.rule import Rule


def check(
    selection: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SELECTION...]", help="Families and names: 'shapes/*', my-rules, add_function (default: all)."
        ),
    ] = None,
    rules_from: RulesFrom = None,
    draws: Annotated[int, typer.Option(min=10, help="Operands drawn for each rule.")] = 200,
    jobs: Annotated[int | None, typer.Option(min=1, help="Rules tried at once (default: one per core).")] = None,
    format: Annotated[
        OutputFormat, typer.Option(help="json: one event per rule, the summary last.")
    ] = OutputFormat.TEXT,
) -> None:
    """Try rules on operands drawn for them: are both sides equal, as declared?

    Every rule is tried in a process of its own making, which it may crash or hang.

    Exit codes: 0 all hold, 1 some do not, 2 usage, 3 internal error, 130 interrupted.
    """
    found = chosen(selection, rules_from)
    workers = jobs or len(os.sched_getaffinity(0))
    raise typer.Exit(
        ended(
            lambda: _check(found, draws, workers, rules_from or [], as_json=format is OutputFormat.JSON),
            stopped="not all rules were tried",
        )
    )


def _check(found: tuple[Rule, ...], draws: int, jobs: int, rules_from: list[Path], *, as_json: bool) -> int:
    from eqfuzz.commands.check_rules import check as run
    from eqfuzz.events.event import Event
    from eqfuzz.events.rules import RuleStarted
    from eqfuzz.report.machine.json_lines import JsonLines
    from eqfuzz.report.rules.check import CheckReport
    from eqfuzz.report.run.console import make_console
    from eqfuzz.run.protocol import RunnerFailed

    report = JsonLines(sys.stdout) if as_json else CheckReport(make_console())

    def handle(event: Event) -> None:
        if not (as_json and isinstance(event, RuleStarted)):
            report.handle(event)

    try:
        with report:
            summary = run(found, handle, draws=draws, jobs=jobs, rules_from=rules_from)
    except RunnerFailed as error:
        complain(f"no process that tries rules could be started: {error}")
        return USAGE
    if summary.interrupted:
        complain("interrupted")
        return INTERRUPTED
    return FINDINGS if summary.failed else CLEAN
