"""Reports of ``eqfuzz coverage``: the table on the console, and the curves."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from eqfuzz.atomic_file import write_atomically
from eqfuzz.events.catalogue import CatalogueStarted, OperatorRead
from eqfuzz.events.coverage import CoverageCount, CoverageStarted, CoverageSummary, ProgramCovered, TraceStarted
from eqfuzz.events.event import Event
from eqfuzz.report.charts import COLOURS, Level, Series, line_chart
from eqfuzz.report.formatting import count, duration, named_versions, printable
from eqfuzz.report.live_display import LINE_SECONDS, LiveRenderer, LiveReport
from eqfuzz.report.progress import ProgressCounter
from eqfuzz.report.tables import plain_table, print_table

PAPER = 27.0
"""Percent of torch's statements that the programs of Jin & Wan 2025 run, as they print it."""

TORCHFUZZ, TORCHFUZZ_COMPILER = 24.4, 33.5
"""The same for TorchFuzz after 88 programs, where its curve is flat; of torch, and of the compiler."""

CURVES = len(COLOURS) - 1
"""Sources that have curves of their own, besides that of all programs."""


class CoverageReport(LiveReport):
    """Handles the events of a measurement; draws while it is open as a context manager.

    ``quiet``: the totals, nothing else.
    """

    def __init__(self, console: Console, *, quiet: bool = False, every: float = LINE_SECONDS) -> None:
        self._console = console
        self._quiet = quiet
        self._progress = ProgressCounter("programs")
        self._renderer = LiveRenderer(console, self._progress, every)

    def handle(self, event: Event) -> None:
        """Count and show one event. Not to be called by two threads at once."""
        match event:
            case CatalogueStarted():
                self._progress.rename(f"operators by dtype of {event.catalogue}")
                self._progress.begin(event.pairs - event.earlier)
            case OperatorRead():
                self._progress.advance()
            case CoverageStarted():
                self._progress.rename("programs")
                self._start(event)
            case TraceStarted():
                self._progress.start(event.index, event.program)
            case ProgramCovered():
                self._progress.note = Text(f"{event.covered:,} statements")
                self._progress.finish(event.index)
                if event.problem and not self._quiet:
                    self._print(Text(f"{printable(event.program)}: {printable(event.problem)}", "yellow"))
            case CoverageSummary():
                self._renderer.stop()
                self._close(event)
            case _:
                pass

    def _start(self, event: CoverageStarted) -> None:
        self._progress.begin(event.programs - event.earlier)
        if self._quiet:
            return
        self._print(Text(named_versions(event.versions), "dim"))
        parts = (
            count(event.programs, "program") + f" of {count(len(event.sources), 'source')}",
            f"strategy {event.strategy}",
            ", ".join(event.configs),
            count(event.jobs, "job"),
            f"random seed {event.seed}",
        )
        self._print(Text("  ·  ".join(parts)))
        if event.earlier:
            self._print(Text(f"resumed: {count(event.earlier, 'program')} traced by earlier calls", "dim"))

    def _close(self, summary: CoverageSummary) -> None:
        if not self._quiet:
            print_table(self._console, table_of(summary))
            self._print(Text())
        if summary.problems:
            problems = "invalid, or ended early: their lines up to there count"
            self._print(Text(f"{count(summary.problems, 'program')} {problems}", "yellow"))
        if summary.interrupted:
            self._print(Text("Interrupted: the same command resumes.", "bold yellow"))
        if summary.out_of_time:
            self._print(Text("Out of time: the same command resumes.", "bold yellow"))
        for line in totals_of(summary):
            self._print(Text(line, "bold"))
        self._print(Text(f"{count(summary.together.programs, 'program')}  ·  {duration(summary.seconds)}"))


def table_of(summary: CoverageSummary) -> Table:
    """Statements by source: each row counts what importing and the first compilations run, too."""
    whole = summary.statements
    table = plain_table("Statements that ran", f"of {whole.torch:,} of torch, {whole.compiler:,} of the compiler")
    table.add_column("source", no_wrap=True)
    for head in ("programs", "torch", "", "compiler", ""):
        table.add_column(head, justify="right", no_wrap=True)
    rows = [("import torch", summary.imported), ("and the compiler", summary.started), *summary.sources.items()]
    for name, figures in [*rows, ("all programs", summary.together)]:
        table.add_row(Text(printable(name)), *_cells(figures, whole))
    return table


def totals_of(summary: CoverageSummary) -> list[str]:
    """The shares of torch and of the compiler, beside those of others."""
    whole, ran = summary.statements, summary.together
    return [
        f"torch     {_share(ran.torch, whole.torch)}  (Jin & Wan 2025: {PAPER:.0f} %, TorchFuzz: {TORCHFUZZ} %)",
        f"compiler  {_share(ran.compiler, whole.compiler)}  (TorchFuzz: {TORCHFUZZ_COMPILER} %)",
    ]


def write_curves(file: Path, started: CoverageStarted, summary: CoverageSummary) -> None:
    """Write the share of torch over the number of programs as SVG: all together, and the largest sources."""
    largest = sorted(summary.sources, key=lambda name: -summary.sources[name].torch)[:CURVES]
    names = {"": "all programs", **{name: name for name in largest}}
    series = [
        Series(
            f"{label}, {100 * summary.curves[name][-1][1] / summary.statements.torch:.1f} %",
            colour,
            points=tuple((n, 100 * covered / summary.statements.torch) for n, covered in summary.curves[name]),
        )
        for colour, (name, label) in enumerate(names.items())
    ]
    levels = [Level(f"Jin & Wan 2025, {PAPER:.0f} %", PAPER), Level(f"TorchFuzz, {TORCHFUZZ} %", TORCHFUZZ)]
    chart = line_chart(
        "Statements of torch that ran",
        "programs",
        "percent",
        series,
        levels,
        note=f"of {summary.statements.torch:,}, importing included; {named_versions(started.versions)}",
    )
    write_atomically(file, chart)


def _cells(figures: CoverageCount, whole: CoverageCount) -> tuple[str, ...]:
    return (
        f"{figures.programs:,}" if figures.programs else "",
        f"{figures.torch:,}",
        _share(figures.torch, whole.torch),
        f"{figures.compiler:,}",
        _share(figures.compiler, whole.compiler),
    )


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %"
