"""Console report of ``eqfuzz generate dag``: programs, and how often each operator was used."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from eqfuzz.events.event import Event
from eqfuzz.events.generate import GenerationEnded, ProgramGenerated
from eqfuzz.report.formatting import count, duration
from eqfuzz.report.live_display import LiveRenderer, LiveReport
from eqfuzz.report.progress import ProgressCounter
from eqfuzz.report.tables import plain_table, print_table

SHOWN = 30
"""Number of operators listed; ``--verbose`` lists all."""

UNUSED_SHOWN = 12


class GenerationReport(LiveReport):
    """Handles the events of ``eqfuzz.commands.generate_dag``; draws while it is open as a context manager."""

    def __init__(self, console: Console, template: str, seeds: range, *, quiet: bool, verbose: bool) -> None:
        self._console = console
        self._heading = f"{_seeds(seeds)}  ·  template {template}"
        self._quiet = quiet
        self._verbose = verbose
        self._progress = ProgressCounter("programs", len(seeds))
        self._renderer = LiveRenderer(console, self._progress)
        self._generation: GenerationEnded | None = None

    def handle(self, event: Event) -> None:
        """Count and show one event."""
        if isinstance(event, ProgramGenerated):
            self._progress.advance()
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
            print_table(self._console, _distribution(event, everything=self._verbose))
        seeds = _seeds(range(event.start, event.start + event.count))
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
            unused = f"never used: {', '.join(event.unused[:UNUSED_SHOWN])}{more}"
            self._console.print(Text(unused, style="yellow"), soft_wrap=True)
        if event.interrupted:
            self._console.print(Text("Interrupted: the figures above are partial.", style="yellow"))

    def _show(self, event: ProgramGenerated) -> None:
        source = Path(event.file).read_text(encoding="utf-8")
        self._console.print(Text(event.file, style="bold"))
        if self._console.is_terminal:
            self._console.print(Syntax(source, "python", background_color="default"))
        else:
            self._console.print(Text(source), soft_wrap=True)


def _seeds(seeds: range) -> str:
    return f"seed {seeds.start}" if len(seeds) == 1 else f"seeds {seeds.start} to {seeds.stop - 1}"


def _distribution(event: GenerationEnded, *, everything: bool) -> Table:
    total = sum(event.operators.values())
    table = plain_table("Operators used", f"{len(event.operators)} of {len(event.operators) + len(event.unused)}")
    table.add_column("operator", no_wrap=True)
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
