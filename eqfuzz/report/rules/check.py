"""Console report of ``eqfuzz rules check``: rules that do not hold at once, the counts at the end."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from eqfuzz.events.event import Event
from eqfuzz.events.rules import CheckStarted, CheckSummary, RuleChecked, RuleStarted
from eqfuzz.report.formatting import count, duration, printable
from eqfuzz.report.live_display import LINE_SECONDS, LiveRenderer, LiveReport
from eqfuzz.report.progress import ProgressCounter

FEW = 20
"""Up to this number of rules, those that hold have a line each too."""


class CheckReport(LiveReport):
    """Handles the events of a check; draws while it is open as a context manager."""

    def __init__(self, console: Console, every: float = LINE_SECONDS) -> None:
        self._console = console
        self._progress = ProgressCounter("rules")
        self._renderer = LiveRenderer(console, self._progress, every)
        self._rules = 0
        self._failed = 0

    def handle(self, event: Event) -> None:
        """Count and show one event. Not to be called by two threads at once."""
        match event:
            case CheckStarted(rules=rules):
                self._rules = rules
                self._progress.begin(rules)
            case RuleStarted(index=index, rule=rule):
                self._progress.start(index, rule)
            case RuleChecked():
                self._count(event)
                if not event.holds:
                    self._print_failure(event)
                elif self._rules <= FEW:
                    self._print(Text.assemble(("✓ ", "green"), event.rule, (f"  {_amounts(event)}", "dim")))
            case CheckSummary():
                self._renderer.stop()
                self._close(event)
            case _:
                pass

    def _count(self, event: RuleChecked) -> None:
        self._progress.finish(event.index)
        self._failed += not event.holds
        self._progress.note = Text(f"{self._failed:,} do not hold", style="bold red" if self._failed else "dim")

    def _print_failure(self, event: RuleChecked) -> None:
        place = (f"  {event.place}", "")
        self._print(Text.assemble(("✗ ", "bold red"), (event.rule, "bold red"), place, (f"  {_amounts(event)}", "dim")))
        for problem in event.problems:
            text, _, operands = printable(problem).partition("\n")
            self._print(Text(f"    {text}"))
            if operands:
                self._print(Text(f"    {operands}", style="dim"))

    def _close(self, summary: CheckSummary) -> None:
        failed = len(summary.failed)
        holds = summary.checked - failed
        parts = [
            Text(f"{count(holds, 'rule')} {'holds' if holds == 1 else 'hold'}", style="bold green" if holds else "")
        ]
        if failed:
            parts.append(Text(f"{failed:,} {'does' if failed == 1 else 'do'} not", style="bold red"))
        if summary.checked < summary.rules:
            parts.append(Text(f"{summary.rules - summary.checked:,} not tested", style="bold yellow"))
        parts.append(Text(f"{count(summary.draws, 'draw')}, {count(summary.rewrites, 'rewrite')}", style="dim"))
        parts.append(Text(duration(summary.seconds), style="dim"))
        self._print(Text("  ·  ").join(parts))


def _amounts(event: RuleChecked) -> str:
    return f"{count(event.draws, 'draw')}, {count(event.rewrites, 'rewrite')}, {duration(event.seconds)}"
