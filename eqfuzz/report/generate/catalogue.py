"""Console report of ``eqfuzz generate opinfo``: what was read, and what is left out and why."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Console
from rich.text import Text

from eqfuzz.events.catalogue import (
    CatalogueStarted,
    CatalogueSummary,
    OperatorRead,
    ProgramSwept,
    SweepStarted,
    SweepSummary,
)
from eqfuzz.events.event import Event
from eqfuzz.report.formatting import count, duration, named_versions
from eqfuzz.report.live_display import LiveRenderer, LiveReport
from eqfuzz.report.progress import ProgressCounter
from eqfuzz.report.tables import plain_table, print_table

OPERATORS_NAMED = 4
"""Operators that are named for each reason."""


class CatalogueReport(LiveReport):
    """Handles the events of ``eqfuzz.commands.read_catalogue``; draws while it is open as a context manager."""

    def __init__(self, console: Console, *, quiet: bool) -> None:
        self._console = console
        self._quiet = quiet
        self._progress = ProgressCounter("list of operators", 1)
        self._renderer = LiveRenderer(console, self._progress)
        self._summary: CatalogueSummary | SweepSummary | None = None

    def handle(self, event: Event) -> None:
        """Count and show one event."""
        match event:
            case CatalogueStarted():
                self._progress.rename("operators by dtype")
                self._progress.begin(event.pairs - event.earlier)
                if not self._quiet:
                    read = f"  ·  {event.earlier:,} read before" if event.earlier else ""
                    entries = count(event.operators, "entry", "entries")
                    heading = (
                        f"{event.catalogue}: {entries} × {count(len(event.dtypes), 'dtype')}, "
                        f"{event.pairs:,} supported{read}  ·  seed {event.seed}  ·  {named_versions(event.versions)}"
                    )
                    self._console.print(Text(heading), soft_wrap=True)
            case OperatorRead():
                self._progress.advance()
            case SweepStarted():
                self._progress.rename("programs")
                self._progress.begin(event.programs - event.earlier)
                if not self._quiet:
                    before = f", {event.earlier:,} judged before" if event.earlier else ""
                    heading = f"{count(event.programs, 'program')}{before}  ·  configuration {event.config}"
                    self._console.print(Text(heading), soft_wrap=True)
            case ProgramSwept():
                self._progress.advance()
                for line in event.different:
                    self._console.print(Text(f"new: {line}", style="bold red"), soft_wrap=True)
            case CatalogueSummary() | SweepSummary():
                self._summary = event
            case _:
                pass

    def close(self) -> None:
        """Print the totals, and the samples that are left out."""
        event = self._summary
        if event is None:
            return
        if not self._quiet:
            self._print_left_out(event)
            if event.drawing:
                names = ", ".join(event.drawing)
                self._console.print(Text(f"draw random numbers, in programs of their own: {names}"), soft_wrap=True)
        if isinstance(event, SweepSummary):
            self._print_sweep(event)
            return
        parts = [
            count(event.programs, "program"),
            f"{count(event.results, 'result')} of {count(event.samples, 'sample')}",
            *([f"{event.without_gradient:,} without gradients"] if event.without_gradient else []),
            f"{event.repeats:,} the same call with other values",
            f"{sum(sum(by.values()) for by in event.left_out.values()):,} left out",
            f"in {duration(event.seconds)}",
            f"in {event.out}/programs",
        ]
        self._console.print(Text("  ·  ".join(parts)), soft_wrap=True)
        if event.interrupted:
            self._console.print(
                Text("Interrupted: no program was written; the same command resumes.", style="yellow"), soft_wrap=True
            )

    def _print_sweep(self, event: SweepSummary) -> None:
        if not self._quiet and event.outcomes:
            outcomes = list(dict.fromkeys(name for by in event.outcomes.values() for name in by))
            table = plain_table()
            table.add_column("dtype", no_wrap=True)
            for outcome in outcomes:
                table.add_column(outcome, justify="right", no_wrap=True)
            for dtype, by_outcome in event.outcomes.items():
                table.add_row(dtype, *(f"{by_outcome.get(outcome, 0):,}" for outcome in outcomes))
            self._console.print()
            print_table(self._console, table)
            self._console.print()
        parts = [
            f"{event.judged:,} of {count(event.results, 'result')} judged",
            count(event.findings, "new finding"),
            f"{duration(event.cpu_seconds)} CPU",
            f"{duration(event.seconds)} wall",
            f"matrix in {event.out}/matrix.md and matrix.json",
        ]
        self._console.print(Text("  ·  ".join(parts)), soft_wrap=True)
        if event.interrupted or event.out_of_time:
            why = "Interrupted" if event.interrupted else "Out of time"
            self._console.print(
                Text(f"{why}: the figures above are partial; the same command resumes.", style="yellow"), soft_wrap=True
            )

    def _print_left_out(self, event: CatalogueSummary | SweepSummary) -> None:
        if not event.left_out:
            return
        total = sum(sum(by_operator.values()) for by_operator in event.left_out.values())
        table = plain_table("Left out", count(total, "sample"))
        table.add_column("samples", justify="right", no_wrap=True)
        table.add_column("reason")
        table.add_column("operators")
        for reason, by_operator in event.left_out.items():
            table.add_row(f"{sum(by_operator.values()):,}", Text(reason), Text(_named(by_operator)))
        self._console.print()
        print_table(self._console, table)
        self._console.print()


def _named(by_operator: Mapping[str, int]) -> str:
    most = sorted(by_operator, key=lambda name: -by_operator[name])
    more = len(most) - OPERATORS_NAMED
    return ", ".join(most[:OPERATORS_NAMED]) + (f" and {more} more" if more > 0 else "")
