"""What was generated: programs as they are made, and how often each operator was used."""

from __future__ import annotations

import threading
from pathlib import Path

from rich.console import Console, RenderableType
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from eqfuzz.events.event import Event
from eqfuzz.events.generate import GenerationEnded, ProgramGenerated
from eqfuzz.report.formatting import count, duration
from eqfuzz.report.live_display import LiveDisplay, LiveRenderer

SHOWN = 30
"""Operators listed; ``--verbose`` lists all."""

UNUSED_SHOWN = 12


class _GenerationProgress:
    def __init__(self, total: int) -> None:
        self._total = total
        self._made = 0
        self._lock = threading.Lock()

    def step(self) -> None:
        with self._lock:
            self._made += 1

    def line(self) -> str:
        with self._lock:
            return f"{self._made:,}/{self._total:,} programs"

    def display(self) -> RenderableType:
        return Text(self.line(), style="dim")


class GenerationReport(LiveDisplay):
    """A handler of the events of `eqfuzz.commands.generate_dag`."""

    def __init__(self, console: Console, template: str, seeds: range, *, quiet: bool, verbose: bool) -> None:
        self._console = console
        self._heading = f"{_told(seeds)}  ·  template {template}"
        self._quiet = quiet
        self._verbose = verbose
        self._progress = _GenerationProgress(len(seeds))
        self._drawing = LiveRenderer(console, self._progress)
        self._generation: GenerationEnded | None = None

    def handle(self, event: Event) -> None:
        """Count and show one event."""
        if isinstance(event, ProgramGenerated):
            self._progress.step()
            if self._verbose:
                self._show(event)
        elif isinstance(event, GenerationEnded):
            self._generation = event

    def __enter__(self) -> GenerationReport:
        if not self._quiet:
            self._console.print(Text(self._heading), soft_wrap=True)
        super().__enter__()
        return self

    def close(self) -> None:
        """Print how often each operator was used, and the totals."""
        event = self._generation
        if event is None:
            return
        if not self._quiet and event.operators:
            self._console.print()
            self._console.print(_distribution(event, everything=self._verbose))
        seeds = _told(range(event.start, event.start + event.count))
        rate = f"{event.programs / event.seconds:,.0f} a second" if event.seconds else ""
        parts = [
            count(event.programs, "program"),
            f"template {event.template}",
            f"{count(sum(event.operators.values()), 'operator')}, {len(event.operators)} different",
            f"written in {duration(event.seconds)}" + (f", {rate}" if event.programs > 20 else ""),
            seeds,
            f"in {event.out}/programs",
        ]
        self._console.print(Text("  ·  ".join(parts)), soft_wrap=True)
        if event.unused and event.programs >= 500:
            more = f" and {len(event.unused) - UNUSED_SHOWN} more" if len(event.unused) > UNUSED_SHOWN else ""
            told = f"never used: {', '.join(event.unused[:UNUSED_SHOWN])}{more}"
            self._console.print(Text(told, style="yellow"), soft_wrap=True)
        if event.interrupted:
            self._console.print(Text("Interrupted: the figures above are what was done until then.", style="yellow"))

    def _show(self, event: ProgramGenerated) -> None:
        source = Path(event.file).read_text(encoding="utf-8")
        self._console.print(Text(event.file, style="bold"))
        if self._console.is_terminal:
            self._console.print(Syntax(source, "python", background_color="default"))
        else:
            self._console.print(Text(source), soft_wrap=True)


def _told(seeds: range) -> str:
    return f"seed {seeds.start}" if len(seeds) == 1 else f"seeds {seeds.start} to {seeds.stop - 1}"


def _distribution(event: GenerationEnded, *, everything: bool) -> Table:
    total = sum(event.operators.values())
    table = Table(title=f"Operators used ({len(event.operators)} of {len(event.operators) + len(event.unused)})")
    table.add_column("operator", overflow="fold")
    table.add_column("uses", justify="right")
    table.add_column("share", justify="right")
    listed = list(event.operators.items())
    for name, uses in listed if everything else listed[:SHOWN]:
        table.add_row(Text(name), f"{uses:,}", f"{uses / total:.1%}")
    rest = [] if everything else listed[SHOWN:]
    if rest:
        uses = sum(uses for _, uses in rest)
        table.add_row(Text(count(len(rest), "more operator"), style="dim"), f"{uses:,}", f"{uses / total:.1%}")
    return table
