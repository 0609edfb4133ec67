"""How far a run has come: counted from its events, shown as a live display or as one plain line."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from rich.console import Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from eqfuzz.events.event import Event
from eqfuzz.events.run import RunStarted, SeedDone, SeedStarted
from eqfuzz.mutate.counters import RunCounters
from eqfuzz.oracle.compare.verdict import VerdictKind
from eqfuzz.report.formatting import count, duration, printable, rate
from eqfuzz.report.verdict_texts import style_of

CURRENT_SHOWN = 4


class RunProgress:
    """Counts events on one thread while another one draws."""

    def __init__(self, time_budget: float | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._tally = RunCounters()
        self._time_budget = time_budget
        self._clock = clock
        self._began = clock()
        self._seeds = 0
        self._done = 0
        self._running: dict[int, str] = {}
        self._lock = threading.Lock()

    def count(self, event: Event) -> None:
        with self._lock:
            self._tally.count(event)
            match event:
                case RunStarted(seeds=seeds):
                    self._seeds = seeds
                    self._began = self._clock()
                case SeedStarted(index=index, seed=seed):
                    self._running[index] = seed
                case SeedDone(index=index):
                    self._done += 1
                    self._running.pop(index, None)
                case _:
                    pass

    def line(self) -> str:
        """All of it on one line, for logs."""
        with self._lock:
            elapsed = self._clock() - self._began
            verdicts = [f"{kind} {number:,}" for kind, number in self._verdicts() if kind != VerdictKind.AGREE]
            parts = [
                f"{self._done:,}/{self._seeds:,} seeds",
                count(self._tally.variants, "variant"),
                count(self._tally.cells, "cell"),
                rate(self._tally.cells, elapsed),
                count(len(self._tally.findings), "finding"),
                *verdicts,
                f"{duration(elapsed)} so far",
            ]
            left = self._seconds_left(elapsed)
            if left is not None:
                parts.append(f"about {duration(left)} left")
        return ", ".join(parts)

    def display(self) -> RenderableType:
        """A few lines for the bottom of a terminal."""
        with self._lock:
            elapsed = self._clock() - self._began
            left = self._seconds_left(elapsed)
            running = [self._running[index] for index in sorted(self._running)]
            verdicts = self._verdicts()
            tally = self._tally
            findings = len(tally.findings)
            bar = Table.grid(padding=(0, 1, 0, 0), expand=True)
            bar.add_column(no_wrap=True)
            bar.add_column(ratio=1)
            bar.add_column(no_wrap=True, justify="right")
            times = duration(elapsed) + (f", about {duration(left)} left" if left is not None else "")
            bar.add_row(
                f"{self._done:,}/{self._seeds:,} seeds",
                ProgressBar(total=max(self._seeds, 1), completed=self._done),
                times,
            )
            amounts = [
                count(tally.variants, "variant"),
                count(tally.cells, "cell"),
                rate(tally.cells, elapsed),
            ]
        found = Text(count(findings, "finding"), style="bold red" if findings else "dim")
        dot = Text.assemble(("  ·  ", "dim"))
        lines: list[RenderableType] = [Text(), bar, dot.join([*map(Text, amounts), found])]
        if not tally.variants and not verdicts:
            lines.append(Text("starting: torch is imported and compiles once before the first seed", style="dim"))
        if verdicts:
            lines.append(dot.join(Text(f"{kind} {number:,}", style=style_of(kind)) for kind, number in verdicts))
        for seed in running[:CURRENT_SHOWN]:
            lines.append(Text(f"  {printable(seed)}", style="dim", no_wrap=True, overflow="ellipsis"))
        if len(running) > CURRENT_SHOWN:
            lines.append(Text(f"  and {len(running) - CURRENT_SHOWN} more", style="dim"))
        return Group(*lines)

    def _verdicts(self) -> list[tuple[str, int]]:
        return [(str(kind), self._tally.verdicts[kind]) for kind in VerdictKind if self._tally.verdicts[kind]]

    def _seconds_left(self, elapsed: float) -> float | None:
        """At the pace of the seeds done so far, within the time budget; None while nothing is known."""
        by_seeds = elapsed / self._done * (self._seeds - self._done) if self._done else None
        if self._time_budget is None:
            return by_seeds
        by_clock = max(self._time_budget - elapsed, 0.0)
        return by_clock if by_seeds is None else min(by_clock, by_seeds)
