"""Console report of ``eqfuzz check``: a line for each use of the model."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from eqfuzz.events.event import Event
from eqfuzz.events.model_check import ModelCheckStarted, ModelCheckSummary, UseChecked
from eqfuzz.events.run import CellJudged, FindingReported, SeedDone, SeedRewritten
from eqfuzz.report.formatting import count, duration, named_versions, printable
from eqfuzz.report.layout import print_text
from eqfuzz.report.live_display import LINE_SECONDS, LiveRenderer, LiveReport
from eqfuzz.report.progress import ProgressCounter
from eqfuzz.report.source import highlighted
from eqfuzz.report.tables import plain_table, print_table

STYLES = {
    "agrees": "green",
    "differs": "bold red",
    "known issue": "yellow",
    "not comparable": "yellow",
    "unsupported": "dim",
    "nothing compiled": "bold yellow",
    "invalid": "bold yellow",
    "not tried": "bold yellow",
}

_CELL_SECONDS = 15
"""CPU seconds of a cell of a small model, most of them for compiling."""

_EAGER_CALLS = 60
"""CPU seconds of a cell beside these, in calls in eager: most of them are noisy runs in float64."""

_CELLS_OF_USE = 2
"""Cells of each use but the first: the call itself, and a change that a guard must notice."""


class ModelCheckReport(LiveReport):
    """Handles the events of a check; draws while it is open as a context manager.

    ``quiet``: findings and totals only; without ``shows_results`` progress only.
    """

    def __init__(
        self, console: Console, *, quiet: bool = False, shows_results: bool = True, every: float = LINE_SECONDS
    ) -> None:
        self._console = console
        self._quiet = quiet
        self._shows_results = shows_results
        self._progress = ProgressCounter("programs")
        self._cells = 0
        self._uses = 0
        self._renderer = LiveRenderer(console, self._progress, every)

    def handle(self, event: Event) -> None:
        """Count and show one event. Not to be called by two threads at once."""
        match event:
            case ModelCheckStarted():
                self._start(event)
            case SeedRewritten() if self._uses:
                self._estimate(event)
            case CellJudged() if event.config:
                self._cells += 1
                self._progress.note = Text(count(self._cells, "cell"))
            case SeedDone():
                self._progress.advance()
            case FindingReported() if not event.issue and self._shows_results:
                self._print(Text(f"✗ {event.finding.verdict.kind}: {printable(event.finding.verdict.in_words)}", "red"))
            case ModelCheckSummary():
                self._renderer.stop()
                if self._shows_results:
                    self._close(event)
            case _:
                pass

    def _start(self, event: ModelCheckStarted) -> None:
        self._progress.begin(len(event.uses))
        if self._quiet or not self._shows_results:
            return
        self._print(Text(named_versions(event.versions), "dim"))
        modules = ", ".join(event.modules)
        definitions = f": {count(event.definitions, 'definition')} of {modules}" if event.definitions else ""
        self._print(Text(f"{event.model}{definitions}"))
        variants = f", and {count(event.variants, 'variant')}" if event.variants else ""
        self._print(Text(f"{', '.join(event.uses)}{variants}"))
        self._uses = len(event.uses)

    def _estimate(self, first: SeedRewritten) -> None:
        """Say what the check will cost, from the first use of the model."""
        cells = first.cells + _CELLS_OF_USE * (self._uses - 1)
        self._uses = 0
        seconds = cells * (_CELL_SECONDS + _EAGER_CALLS * first.eager_seconds)
        one_call = f"a call in eager takes {first.eager_seconds:.2g} s"
        self._print(Text(f"{one_call}: {count(cells, 'cell')}, some {duration(seconds)} of CPU time", "dim"))

    def _close(self, summary: ModelCheckSummary) -> None:
        if not self._quiet:
            self._print(Text())
            print_uses(self._console, summary.uses)
        if summary.interrupted or summary.out_of_time:
            why = "Interrupted" if summary.interrupted else "Out of time"
            self._print(Text(f"{why}: uses without an outcome were not tried.", "bold yellow"))
        findings = count(summary.findings, "use differs", "uses differ") if summary.findings else "no difference"
        self._print(Text(f"{findings}  ·  {duration(summary.seconds)}  ·  programs and findings in {summary.out}"))
        if summary.findings:
            self._print(Text(f"Next: eqfuzz findings --out {summary.out}"))


def print_uses(console: Console, uses: Sequence[UseChecked]) -> None:
    """A table of the uses; below it what their verdicts are made from, and the programs that differ in the same way."""
    table = plain_table()
    table.add_column("use", no_wrap=True)
    table.add_column("outcome", no_wrap=True)
    table.add_column("cells", justify="right", no_wrap=True)
    table.add_column("CPU", justify="right", no_wrap=True)
    for use in uses:
        seconds = duration(use.seconds) if use.seconds else ""
        table.add_row(use.title, Text(use.outcome, STYLES[use.outcome]), str(use.cells or ""), seconds)
    print_table(console, table)
    print_text(console, Text())
    for use in uses:
        if use.message:
            print_text(console, Text.assemble((f"{use.title}: ", "bold"), _details(use)))
    for use in uses:
        if use.program:
            size = f"these {count(len(use.program.splitlines()), 'line')} differ in the same way [{use.reduced}]"
            print_text(console, Text.assemble((f"\n{use.title}: ", "bold"), f"{size}:\n"))
            console.print(highlighted(use.program))
        if use.unreduced:
            print_text(console, Text(f"{use.title}: not reduced: {printable(use.unreduced)}", "dim"))


def _details(use: UseChecked) -> str:
    submodule = f"in {use.submodule}," if use.submodule else ""
    parts = [submodule, printable(use.message), f"[{use.finding}]" if use.finding else "", use.issue]
    return " ".join(part for part in parts if part)
