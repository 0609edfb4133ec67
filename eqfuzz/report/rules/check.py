"""The console during ``eqfuzz rules check``: progress, each rule that does not hold at once, the count at the end."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from rich.console import Console, Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from eqfuzz.events.event import Event
from eqfuzz.events.rules import CheckStarted, CheckSummary, RuleChecked, RuleStarted
from eqfuzz.report.formatting import count, duration, printable
from eqfuzz.report.live_display import LINE_SECONDS, LiveDisplay, LiveRenderer

FEW = 20
"""Up to so many rules, each that holds has a line too."""


class CheckProgress:
    """Counts rules on one thread while another one draws."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began = clock()
        self._lock = threading.Lock()
        self._rules = 0
        self._done = 0
        self._failed = 0
        self._running: dict[int, str] = {}

    def count(self, event: Event) -> None:
        with self._lock:
            match event:
                case CheckStarted(rules=rules):
                    self._rules = rules
                case RuleStarted(index=index, rule=rule):
                    self._running[index] = rule
                case RuleChecked(index=index, holds=holds):
                    self._running.pop(index, None)
                    self._done += 1
                    self._failed += not holds
                case _:
                    pass

    def line(self) -> str:
        with self._lock:
            return ", ".join([f"{self._done:,}/{self._rules:,} rules", f"{self._failed:,} do not hold", self._times()])

    def display(self) -> RenderableType:
        with self._lock:
            bar = Table.grid(padding=(0, 1, 0, 0), expand=True)
            bar.add_column(no_wrap=True)
            bar.add_column(ratio=1)
            bar.add_column(no_wrap=True, justify="right")
            done = ProgressBar(total=max(self._rules, 1), completed=self._done)
            bar.add_row(f"{self._done:,}/{self._rules:,} rules", done, self._times())
            running = [Text(f"  {name}", style="dim", no_wrap=True) for _, name in sorted(self._running.items())[:4]]
            failed = Text(f"{self._failed:,} do not hold", style="bold red" if self._failed else "dim")
            return Group(Text(), bar, failed, *running)

    def _times(self) -> str:
        elapsed = self._clock() - self._began
        left = elapsed / self._done * (self._rules - self._done) if self._done else None
        return f"{duration(elapsed)} so far" + (f", about {duration(left)} left" if left else "")


class CheckReport(LiveDisplay):
    """A handler of a check's events that writes to ``console``; a context manager, since it draws while it is open."""

    def __init__(self, console: Console, every: float = LINE_SECONDS) -> None:
        self._console = console
        self._progress = CheckProgress()
        self._drawing = LiveRenderer(console, self._progress, every)
        self._rules = 0

    def handle(self, event: Event) -> None:
        """Count and show one event. Not to be called by two threads at once."""
        self._progress.count(event)
        match event:
            case CheckStarted(rules=rules):
                self._rules = rules
            case RuleChecked(holds=False):
                self._print_failure(event)
            case RuleChecked() if self._rules <= FEW:
                mark = Text.assemble(("✓ ", "green"), event.rule, (f"  {_tried(event)}", "dim"))
                self._print(mark)
            case CheckSummary():
                self._drawing.stop()
                self._close(event)
            case _:
                pass

    def _print_failure(self, event: RuleChecked) -> None:
        place = (f"  {event.place}", "")
        self._print(Text.assemble(("✗ ", "bold red"), (event.rule, "bold red"), place, (f"  {_tried(event)}", "dim")))
        for problem in event.problems:
            said, _, operands = printable(problem).partition("\n")
            self._print(Text(f"    {said}"))
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
            parts.append(Text(f"{summary.rules - summary.checked:,} not tried", style="bold yellow"))
        parts.append(Text(f"{count(summary.draws, 'draw')}, {count(summary.rewrites, 'rewrite')}", style="dim"))
        parts.append(Text(duration(summary.seconds), style="dim"))
        self._print(Text("  ·  ").join(parts))

    def _print(self, text: Text) -> None:
        self._console.print(text, soft_wrap=not self._console.is_terminal)


def _tried(event: RuleChecked) -> str:
    return f"{count(event.draws, 'draw')}, {count(event.rewrites, 'rewrite')}, {duration(event.seconds)}"
