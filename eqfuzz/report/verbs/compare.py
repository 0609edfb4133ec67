"""Reports of ``eqfuzz compare``: the table on the console, and the curves of coverage and findings."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from eqfuzz.atomic_file import write_atomically
from eqfuzz.commands.compare_pools import CRASHES
from eqfuzz.events.comparison import CaseCompared, CaseStarted, ComparisonStarted, ComparisonSummary, PoolFigures
from eqfuzz.events.event import Event
from eqfuzz.report.charts import Series, line_chart
from eqfuzz.report.formatting import count, duration, named_versions, printable
from eqfuzz.report.live_display import LINE_SECONDS, LiveRenderer, LiveReport
from eqfuzz.report.progress import ProgressCounter
from eqfuzz.report.tables import plain_table, print_table


class ComparisonReport(LiveReport):
    """Handles the events of a comparison; draws while it is open as a context manager.

    ``quiet``: the table, nothing else.
    """

    def __init__(self, console: Console, *, quiet: bool = False, every: float = LINE_SECONDS) -> None:
        self._console = console
        self._quiet = quiet
        self._progress = ProgressCounter("CPU seconds")
        self._renderer = LiveRenderer(console, self._progress, every)
        self._spent: dict[str, float] = {}

    def handle(self, event: Event) -> None:
        """Count and show one event. Not to be called by two threads at once."""
        match event:
            case ComparisonStarted():
                self._start(event)
            case CaseStarted():
                self._progress.start(event.index, f"{event.pool}: {event.seed}")
            case CaseCompared():
                self._progress.finish(event.index)
                self._spent[event.pool] = event.spent
                self._progress.reach(round(sum(self._spent.values())))
                self._progress.note = Text(_spent(self._spent))
                if event.problem and not self._quiet:
                    self._print(Text(f"{printable(event.seed)}: {printable(event.problem)}", "yellow"))
            case ComparisonSummary():
                self._renderer.stop()
                self._close(event)
            case _:
                pass

    def _start(self, event: ComparisonStarted) -> None:
        self._spent = dict(event.spent)
        self._progress.begin(round(event.budget * len(event.pools)))
        if self._quiet:
            return
        self._print(Text(named_versions(event.versions), "dim"))
        parts = (
            ", ".join(f"{name} ({count(seeds, 'seed')})" for name, seeds in event.pools.items()),
            f"{duration(event.budget)} of CPU time each",
            f"strategy {event.strategy}",
            ", ".join(event.configs),
            count(event.jobs, "job"),
            f"random seed {event.seed}",
        )
        self._print(Text("  ·  ".join(parts)))
        if any(event.spent.values()):
            self._print(Text(f"resumed: {_spent(event.spent)}", "dim"))

    def _close(self, summary: ComparisonSummary) -> None:
        print_table(self._console, table_of(summary))
        for name in summary.exhausted:
            self._print(Text(f"{printable(name)}: all seeds were run before its time was spent", "yellow"))
        if summary.interrupted:
            self._print(Text("Interrupted: the same command resumes.", "bold yellow"))
        self._print(Text(duration(summary.seconds)))


def table_of(summary: ComparisonSummary) -> Table:
    """A column for each pool."""
    table = plain_table("Pools")
    table.add_column("", no_wrap=True)
    for name in summary.pools:
        table.add_column(Text(printable(name)), justify="right", no_wrap=True)
    pools = list(summary.pools.values())
    rows: list[tuple[str, Iterable[str]]] = [
        ("CPU time", (duration(pool.cpu_seconds) for pool in pools)),
        ("seeds, of which valid", (_valid(pool) for pool in pools)),
        ("programs", (f"{pool.programs:,}" for pool in pools)),
        ("compiled cells", (f"{pool.cells:,}" for pool in pools)),
        ("cells per CPU minute", (_rate(pool.cells, pool.cpu_seconds) for pool in pools)),
        ("lines of the compiler", (f"{pool.lines:,}" for pool in pools)),
        ("of no other pool", (f"{pool.only:,}" for pool in pools)),
        ("distinct new findings", (f"{pool.buckets:,}" for pool in pools)),
        ("distinct known issues", (f"{pool.known:,}" for pool in pools)),
        ("defective cells", (f"{sum(pool.defective.values()):,}" for pool in pools)),
    ]
    kinds = sorted({kind for pool in pools for kind in pool.defective}, key=lambda kind: (kind in CRASHES, kind))
    rows += [(f"  {kind}", (f"{pool.defective.get(kind, 0):,}" for pool in pools)) for kind in kinds]
    for label, cells in rows:
        table.add_row(label, *cells)
    return table


def write_charts(folder: Path, started: ComparisonStarted, summary: ComparisonSummary) -> list[Path]:
    """Write the curves of coverage and of defective cells over CPU time as SVG. Returns the files.

    None are written before anything has run.
    """
    if not any(pool.cpu_seconds for pool in summary.pools.values()):
        return []
    note = f"{named_versions(started.versions)}; random seed {started.seed}"
    lines = [
        Series(f"{name}, {points[-1][1]:,}", colour, points=tuple((spent / 60, lines) for spent, lines in points))
        for colour, (name, points) in enumerate(summary.coverage.items())
    ]
    defects = [
        Series(f"{name}, {points[-1][1]:,}", colour, points=tuple((spent / 60, cells) for spent, cells, _ in points))
        for colour, (name, points) in enumerate(summary.findings.items())
    ]
    crashes = [
        Series(
            f"{name}, process crashes, {points[-1][2]:,}",
            len(defects) + colour,
            points=tuple((spent / 60, dead) for spent, _, dead in points),
        )
        for colour, (name, points) in enumerate(summary.findings.items())
        if points[-1][2]
    ]
    charts = {
        "compare-coverage.svg": line_chart("Lines of the compiler that ran", "CPU minutes", "lines", lines, note=note),
        "compare-findings.svg": line_chart(
            "Compiled cells with a defect", "CPU minutes", "cells", [*defects, *crashes], note=note
        ),
    }
    for name, text in charts.items():
        write_atomically(folder / name, text)
    return [folder / name for name in charts]


def _spent(seconds: dict[str, float]) -> str:
    return ", ".join(f"{name} {duration(spent)}" for name, spent in seconds.items())


def _valid(pool: PoolFigures) -> str:
    return f"{pool.seeds:,}, {pool.seeds - pool.invalid:,}"


def _rate(cells: int, seconds: float) -> str:
    return f"{60 * cells / seconds:.1f}" if seconds else "-"
