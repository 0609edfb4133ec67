"""Console report of ``eqfuzz generate dag``: programs, and how often each operator was used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

from rich.console import Console
from rich.syntax import Syntax
from rich.text import Text

from eqfuzz.events.event import Event
from eqfuzz.events.generate import GenerationEnded, GenerationSummary, ProgramGenerated, ProgramsRun
from eqfuzz.mutate.outcomes import SeedOutcome
from eqfuzz.report.formatting import count, duration
from eqfuzz.report.layout import print_text
from eqfuzz.report.live_display import LiveRenderer, LiveReport
from eqfuzz.report.progress import ProgressCounter
from eqfuzz.report.tables import plain_table, print_table

SHOWN = 30
"""Number of operators listed; ``--verbose`` lists all."""

UNUSED_SHOWN = 12

MANY_PROGRAMS = 500
"""Number of programs from which on operators that none uses are named."""


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

    def __enter__(self) -> Self:
        if not self._quiet:
            self._console.print(Text(self._heading), soft_wrap=True)
        return super().__enter__()

    def close(self) -> None:
        """Print the totals, and how often each operator was used unless the programs will be run."""
        event = self._generation
        if event is None:
            return
        if not self._quiet and isinstance(event, GenerationSummary):
            _print_distribution(self._console, event.operators, event.unused, "used", everything=self._verbose)
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
        if event.unused and event.programs >= MANY_PROGRAMS:
            more = f" and {len(event.unused) - UNUSED_SHOWN} more" if len(event.unused) > UNUSED_SHOWN else ""
            unused = f"never used: {', '.join(event.unused[:UNUSED_SHOWN])}{more}"
            self._console.print(Text(unused, style="yellow"), soft_wrap=True)
        if event.interrupted:
            self._console.print(Text("Interrupted: the figures above are partial.", style="yellow"))

    def _show(self, event: ProgramGenerated) -> None:
        source = Path(event.file).read_text(encoding="utf-8")
        print_text(self._console, Text(event.file, style="bold"))
        if self._console.is_terminal:
            self._console.print(Syntax(source, "python", background_color="default"))
        else:
            self._console.print(Text(source), soft_wrap=True)


def _seeds(seeds: range) -> str:
    return f"seed {seeds.start}" if len(seeds) == 1 else f"seeds {seeds.start} to {seeds.stop - 1}"


def print_programs_run(console: Console, event: ProgramsRun, *, everything: bool) -> None:
    """How often each operator was used in valid programs, and the seeds of those that failed or were not decided."""
    _print_distribution(console, event.operators, event.unused, "run", everything=everything)
    for outcome, style in _LISTED.items():
        seeds = event.outcomes.get(outcome)
        if seeds:
            text = f"{outcome}: {'seed' if len(seeds) == 1 else 'seeds'} {', '.join(map(str, seeds))}"
            console.print(Text(text, style=style), soft_wrap=True)


_LISTED = {
    SeedOutcome.UNDECIDED: "yellow",
    SeedOutcome.INVALID: "yellow",
    SeedOutcome.IGNORED: "yellow",
    SeedOutcome.FAILED: "bold red",
}


def _print_distribution(
    console: Console, operators: Mapping[str, int], unused: Sequence[str], verb: str, *, everything: bool
) -> None:
    if not operators:
        return
    total = sum(operators.values())
    amount = f"{len(operators):,} of {len(operators) + len(unused):,}, {count(total, 'use')}"
    table = plain_table(f"Operators {verb}", amount)
    table.add_column("operator", no_wrap=True)
    table.add_column("uses", justify="right", no_wrap=True)
    table.add_column("share", justify="right", no_wrap=True)
    listed = list(operators.items())
    for name, uses in listed if everything else listed[:SHOWN]:
        table.add_row(Text(name), f"{uses:,}", f"{uses / total:.1%}")
    rest = [] if everything else listed[SHOWN:]
    if rest:
        uses = sum(uses for _, uses in rest)
        table.add_row(Text(count(len(rest), "more operator"), style="dim"), f"{uses:,}", f"{uses / total:.1%}")
    console.print()
    print_table(console, table)
    console.print()
