"""Reports of ``eqfuzz speed``: the table on the console, and the chart."""

from __future__ import annotations

import os
import statistics
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from eqfuzz.atomic_file import write_atomically
from eqfuzz.events.event import Event
from eqfuzz.events.speed import SeedTimed, SpeedStarted, SpeedSummary, TimedProgram, TimingStarted
from eqfuzz.oracle.compare.speed import Interval, time_in_words, unit_of
from eqfuzz.report.charts import ChartMark, Series, dot_chart
from eqfuzz.report.formatting import count, duration, named_versions, printable
from eqfuzz.report.live_display import LINE_SECONDS, LiveRenderer, LiveReport
from eqfuzz.report.progress import ProgressCounter

METHOD = "median seconds per call over rounds in turn, [95 % confidence interval by the sign test]"

SERIES = (
    Series("original, eager", 0, filled=False),
    Series("transformed, eager", 0),
    Series("original, compiled", 1, filled=False),
    Series("transformed, compiled", 1),
)

_TIME = 23
"""Columns of a time with its interval."""


class SpeedReport(LiveReport):
    """Handles the events of a measurement; draws while it is open as a context manager.

    ``quiet``: one line per slow variant and the totals, nothing else.
    """

    def __init__(self, console: Console, *, quiet: bool = False, every: float = LINE_SECONDS) -> None:
        self._console = console
        self._quiet = quiet
        self._progress = ProgressCounter("seeds")
        self._renderer = LiveRenderer(console, self._progress, every)
        self._config = ""

    def handle(self, event: Event) -> None:
        """Count and show one event. Not to be called by two threads at once."""
        match event:
            case SpeedStarted():
                self._start(event)
            case TimingStarted():
                self._progress.start(event.index, event.path)
            case SeedTimed():
                self._progress.finish(event.index)
                self._show(event)
            case SpeedSummary():
                self._renderer.stop()
                self._close(event)
            case _:
                pass

    def _start(self, event: SpeedStarted) -> None:
        self._progress.begin(event.seeds)
        self._config = event.config
        if self._quiet:
            return
        self._print(Text(named_versions(event.versions), "dim"))
        parts = (
            count(event.seeds, "seed file"),
            f"strategy {event.strategy}",
            count(event.rules, "rule"),
            event.config,
            f"{event.seconds:g} s each",
            f"random seed {event.seed}",
        )
        self._print(Text("  ·  ".join(parts)))
        self._print(Text(METHOD, "dim"))
        self._print(Text(f"\n{'':11}{'original':{_TIME}}{'transformed':{_TIME}}transformed ÷ original", "bold"))

    def _show(self, event: SeedTimed) -> None:
        slow = [program for program in event.programs if program.slow]
        if not self._quiet:
            heading = Text(printable(event.path), "bold")
            if event.rounds:
                heading.append(f"  {count(event.rounds, 'round')}", "dim")
            self._print(heading)
            if event.problem:
                self._print(Text(f"  not timed: {printable(event.problem)}", "yellow"))
            for line in self._lines(event.programs):
                self._print(line)
        for program in slow:
            rules = " + ".join(dict.fromkeys(program.rules))
            self._print(Text(f"slow {printable(event.path)}: {rules}, {self._config}: {program.slow}", "bold red"))

    def _lines(self, programs: Sequence[TimedProgram]) -> list[Text]:
        """Two lines for each variant, or for an original without one."""
        lines: list[Text] = []
        for program in programs[1:] or programs[:1]:
            if program.variant:
                sites = count(len(program.rules), "rewrite")
                lines.append(Text(f"  variant {program.variant}: {sites}", "dim"))
            else:
                lines.append(Text("  no rewrite applies", "dim"))
            if program.problem:
                lines.append(Text(f"  not timed: {printable(program.problem)}", "yellow"))
                continue
            original = programs[0]
            pairs = (
                ("eager", original.eager, program.eager, program.eager_ratio),
                ("compiled", original.compiled, program.compiled, program.compiled_ratio),
            )
            for name, before, after, ratio in pairs:
                if before is None or after is None or ratio is None:
                    continue
                line = Text(f"  {name:9}{interval_in_words(before)}")
                if program.variant:
                    line.append(" " * max(1, 11 + _TIME - len(line)))
                    style = "bold red" if program.slow and name == "compiled" else ""
                    line.append(f"{interval_in_words(after):{_TIME}}")
                    line.append(f"{ratio.median:.2f} [{ratio.low:.2f}, {ratio.high:.2f}]", style)
                lines.append(line)
        return lines

    def _close(self, summary: SpeedSummary) -> None:
        if not self._quiet and summary.eager_ratios:
            self._print(Text())
            self._print(Text("transformed ÷ original over all variants", "bold"))
            for name, ratios in (("eager", summary.eager_ratios), ("compiled", summary.compiled_ratios)):
                spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
                self._print(Text(f"  {name:9}median {statistics.median(ratios):.2f}, from {spread}"))
        if summary.interrupted:
            self._print(Text("Interrupted: the figures above are partial.", "bold yellow"))
        if summary.out_of_time:
            self._print(Text("Out of time: not every seed was timed.", "bold yellow"))
        slow = Text(f"{summary.slow:,} slow", "bold red" if summary.slow else "bold green")
        timed = f"{summary.timed:,} of {count(summary.seeds, 'seed')} timed"
        self._print(Text.assemble(slow, f"  ·  {timed}  ·  {duration(summary.seconds)}"))


def interval_in_words(interval: Interval) -> str:
    """``12.5 µs [12.3, 12.7]``."""
    _, size = unit_of(interval.median)
    return f"{time_in_words(interval.median)} [{interval.low / size:.3g}, {interval.high / size:.3g}]"


def write_chart(file: Path, started: SpeedStarted, seeds: Sequence[SeedTimed]) -> bool:
    """Write the times of all seeds as SVG; False where none was timed, and nothing is written."""
    rows = [row for seed in seeds for row in _rows(seed)]
    if not rows:
        return False
    folder = os.path.commonpath([Path(label).parent for label, _ in rows]) if len(rows) > 1 else ""
    rows = [(os.path.relpath(label, folder) if folder else label, marks) for label, marks in rows]
    about = f"{started.config}, strategy {started.strategy}, {count(started.rules, 'rule')}, "
    chart = dot_chart(
        "Execution speed of equivalent programs",
        "seconds per call (median and 95 % confidence interval)",
        SERIES,
        rows,
        in_words=time_in_words,
        note=about + named_versions(started.versions),
    )
    write_atomically(file, chart)
    return True


def _rows(seed: SeedTimed) -> list[tuple[str, list[ChartMark]]]:
    """One row for each variant beside its original, or for the original alone."""
    if not seed.programs or seed.programs[0].eager is None:
        return []
    original, *variants = seed.programs
    timed = [variant for variant in variants if variant.eager is not None]
    rows: list[tuple[str, list[ChartMark]]] = []
    for variant in timed or [original]:
        cells = [original.eager, variant.eager, original.compiled, variant.compiled]
        marks = [
            ChartMark(series, cell.median, cell.low, cell.high)
            for series, cell in enumerate(cells)
            if cell is not None and (variant is not original or series % 2 == 0)
        ]
        rows.append((seed.path + (f" #{variant.variant}" if len(timed) > 1 else ""), marks))
    return rows
