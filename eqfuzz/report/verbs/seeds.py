"""Console reports of ``eqfuzz seeds``: a line for each model or seed, the counts at the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from eqfuzz.events.event import Event
from eqfuzz.events.seeds import (
    ModelImported,
    SeedChecked,
    SeedsSelected,
    SeedsStarted,
    SeedsSummary,
    SeedStructureRead,
    SeedTakenUp,
)
from eqfuzz.program.pools.structure import ProgramStructure
from eqfuzz.report.formatting import count, duration, printable
from eqfuzz.report.live_display import LINE_SECONDS, LiveRenderer, LiveReport
from eqfuzz.report.progress import ProgressCounter
from eqfuzz.report.tables import print_listing

MOST_OPERATORS = 4


class SeedsReport(LiveReport):
    """Handles the events of an import or check; ``noun`` is what it counts, ``verb`` what is done to it.

    With ``quiet`` only problems and the totals are printed.
    """

    def __init__(
        self, console: Console, noun: str, verb: str, *, quiet: bool = False, every: float = LINE_SECONDS
    ) -> None:
        self._console = console
        self._noun = noun
        self._verb = verb
        self._quiet = quiet
        self._progress = ProgressCounter(f"{noun}s")
        self._renderer = LiveRenderer(console, self._progress, every)
        self._count = 0
        self._structures: dict[str, ProgramStructure] = {}

    def handle(self, event: Event) -> None:
        """Show one event. Not to be called by two threads at once."""
        match event:
            case SeedsStarted():
                self._count = event.count
                self._progress.begin(event.count)
            case SeedTakenUp():
                self._progress.start(event.index, event.path)
            case ModelImported():
                self._progress.finish(event.index)
                details = _definitions(event) if event.modules else _operators(event)
                self._print_result(event.seed or event.path, event.problem, details)
            case SeedChecked():
                self._progress.finish(event.index)
                details = f"{event.format}, {count(event.input_sets, 'input set')}"
                self._print_result(event.path, event.problem, details)
            case SeedStructureRead():
                self._progress.finish(event.index)
                self._structures[event.path] = event.structure
                if event.problem:
                    self._print_result(event.path, event.problem, "")
            case SeedsSelected():
                self._renderer.stop()
                for path in event.paths:
                    self._print_result(path, "", _structure(self._structures[path]))
                self._print_selection(event)
            case SeedsSummary():
                self._renderer.stop()
                self._close(event)
            case _:
                pass

    def _print_result(self, path: str, problem: str, details: str) -> None:
        if problem:
            self._print(Text.assemble(("✗ ", "bold red"), (path, "bold red"), f": {printable(problem)}"))
        elif not self._quiet:
            self._print(Text.assemble(("✓ ", "green"), path, (f"  {details}", "dim")))

    def _print_selection(self, event: SeedsSelected) -> None:
        text = Text(f"{count(len(event.paths), 'seed')} in the pool {event.pool}", style="bold")
        self._print(text.append(f", copied to {event.out}" if event.out else "", style="not bold"))

    def _close(self, summary: SeedsSummary) -> None:
        good = summary.done - len(summary.failed)
        parts = [Text(f"{count(good, self._noun)} {self._verb}", style="bold green" if good else "")]
        if summary.failed:
            parts.append(Text(f"{len(summary.failed):,} not", style="bold red"))
        if summary.done < self._count:
            parts.append(Text(f"{self._count - summary.done:,} not tried", style="bold yellow"))
        parts.append(Text(duration(summary.seconds), style="dim"))
        self._print(Text("  ·  ").join(parts))

    def _print(self, text: str | Text) -> None:
        self._console.print(text, soft_wrap=True)


def _operators(event: ModelImported) -> str:
    most = sorted(event.operators.items(), key=lambda item: (-item[1], item[0]))
    texts = [f"{number:,} {name}" for name, number in most[:MOST_OPERATORS]]
    more = [f"{len(most) - MOST_OPERATORS} more"] if len(most) > MOST_OPERATORS else []
    weights = ["weights beside it"] if event.weights else []
    nodes = count(sum(event.operators.values()), "node")
    return f"{nodes}: {', '.join([*texts, *more])}" + "".join(f"; {text}" for text in weights)


def _definitions(event: ModelImported) -> str:
    modules = count(len(event.modules), "module")
    return f"{count(event.definitions, 'definition')} of {modules}: {', '.join(event.modules)}"


def _structure(structure: ProgramStructure) -> str:
    parts = [count(structure.layers, "layer"), count(structure.parameters, "parameter")]
    kernels = Counter("x".join(map(str, kernel)) for kernel in structure.kernels)
    parts += [
        f"{number:,} convolutions {sizes}" if number > 1 else f"1 convolution {sizes}"
        for sizes, number in sorted(kernels.items())
    ]
    return ", ".join(parts)


def print_seeds(console: Console, rows: Sequence[tuple[Path, str, str, str]]) -> None:
    """Print a listing of seeds: path, format, source, title."""
    cells = [
        [(str(path), ""), (kind, "cyan"), (source, "green" if source else ""), (printable(title), "dim")]
        for path, kind, source, title in rows
    ]
    print_listing(console, ("seed", "format", "source", "title"), cells)
