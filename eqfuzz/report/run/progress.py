"""Progress of a run, counted from its events."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from rich.console import RenderableType
from rich.text import Text

from eqfuzz.events.event import Event
from eqfuzz.events.run import RunStarted, SeedDone, SeedStarted
from eqfuzz.mutate.counters import RunCounters
from eqfuzz.oracle.compare.verdict import VerdictKind
from eqfuzz.report.formatting import count, rate
from eqfuzz.report.progress import ProgressCounter
from eqfuzz.report.run.summary import outcome_counts
from eqfuzz.report.verdict_texts import style_of


class RunProgress:
    """Counts events on one thread while another one draws; a ``ProgressSource``."""

    def __init__(self, time_budget: float | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._counters = RunCounters()
        self._seeds = ProgressCounter("seeds", time_budget=time_budget, clock=clock)
        self._lock = threading.Lock()

    def count(self, event: Event) -> None:
        with self._lock:
            self._counters.count_event(event)
        match event:
            case RunStarted(seeds=seeds):
                self._seeds.begin(seeds)
            case SeedStarted(index=index, seed=seed):
                self._seeds.start(index, seed)
            case SeedDone(index=index):
                self._seeds.finish(index)
            case _:
                pass

    def line(self) -> str:
        with self._lock:
            verdicts = [f"{kind} {number:,}" for kind, number in self._verdicts() if kind != VerdictKind.AGREE]
            return self._seeds.line_with(*self._outcomes(), *self._amounts(), self._findings(), *verdicts)

    def display(self) -> RenderableType:
        dot = Text.assemble(("  ·  ", "dim"))
        with self._lock:
            verdicts = self._verdicts()
            findings = Text(self._findings(), style="bold red" if self._counters.findings else "dim")
            lines = [dot.join([*map(Text, self._amounts()), findings])]
            if self._counters.outcomes.by_index:
                lines.insert(0, dot.join(map(Text, self._outcomes())))
            if not self._counters.variants and not verdicts:
                lines.append(Text("starting: torch and its compiler are loaded before the first seed", style="dim"))
        if verdicts:
            lines.append(dot.join(Text(f"{kind} {number:,}", style=style_of(kind)) for kind, number in verdicts))
        return self._seeds.display_with(*lines)

    def _amounts(self) -> list[str]:
        variants, cells = self._counters.variants, self._counters.cells
        return [count(variants, "variant"), count(cells, "cell"), rate(cells, self._seeds.elapsed)]

    def outcome(self, index: int) -> str:
        """The outcome of a seed that is done."""
        with self._lock:
            return str(self._counters.outcomes.by_index[index])

    def _outcomes(self) -> list[str]:
        return outcome_counts(self._counters.outcomes.counts())

    def _findings(self) -> str:
        return count(len(self._counters.findings), "finding")

    def _verdicts(self) -> list[tuple[str, int]]:
        counts = self._counters.verdicts
        return [(str(kind), counts[kind]) for kind in VerdictKind if counts[kind]]
