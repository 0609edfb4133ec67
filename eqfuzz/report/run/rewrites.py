"""What ``eqfuzz mutate --dry-run --diff`` shows of each seed: every site, and the variants as diffs."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.rule import Rule as Line
from rich.table import Table
from rich.text import Text

from eqfuzz.events.event import Event
from eqfuzz.events.run import SitesListed, VariantMade
from eqfuzz.program.parsing import parse
from eqfuzz.report.formatting import count, printable
from eqfuzz.report.source import SourceDiff
from eqfuzz.rewrite.derivation import RewriteStep

MOST_LINES = 6
"""Lines of a replaced text in the table of sites; the diffs and the JSON events have all of it."""


class Rewrites:
    """Gathers what is told of each seed, since several are under way at once, and prints it seed by seed."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._sites: dict[int, SitesListed] = {}
        self._variants: dict[int, list[VariantMade]] = {}

    def take(self, event: Event) -> None:
        """Keep an event until its seed is shown."""
        match event:
            case SitesListed(index=index):
                self._sites[index] = event
            case VariantMade(index=index):
                self._variants.setdefault(index, []).append(event)
            case _:
                pass

    def show(self, index: int) -> None:
        """Print a seed that is done; nothing when it was invalid."""
        listed, variants = self._sites.pop(index, None), self._variants.pop(index, [])
        if listed is None:
            return
        console = self._console
        told = f"{count(len(listed.sites), 'site')}, {count(len(variants), 'variant')}"
        console.print(Line(style="dim"))
        head = Text.assemble((printable(listed.seed), "bold"), (f"  {told}", "dim"))
        console.print(head, soft_wrap=not console.is_terminal)
        if listed.sites:
            console.print(_table(listed.sites))
        for made in variants:
            console.print()
            _print_variant(console, listed.source, made)
        console.print()


def _table(sites: Sequence[RewriteStep]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("line", justify="right", style="dim", no_wrap=True)
    table.add_column("rule", overflow="fold", style="magenta")
    table.add_column("before", overflow="fold")
    table.add_column("after", overflow="fold")
    for site in sorted(sites, key=lambda s: (s.line, s.rule)):
        table.add_row(str(site.line), Text(site.rule), Text(_short(site.before)), Text(_short(site.after)))
    return table


def _print_variant(console: Console, original: str, made: VariantMade) -> None:
    rules = ", ".join(dict.fromkeys(step.rule for step in made.derivation))
    head = Text.assemble((f"variant {made.variant}", "bold"), f"  {rules}", (f"  {made.exactness}", "dim"))
    console.print(head, soft_wrap=not console.is_terminal)
    console.print(Padding(SourceDiff(original, made.source, made.derivation), (0, 0, 0, 2)))


def _short(text: str) -> str:
    """The first lines, without the indentation of the place that they come from."""
    first, _, rest = printable(text).strip("\n").partition("\n")
    below = textwrap.dedent(rest)
    if rest and not _is_python(f"{first}\n{below}"):
        below = textwrap.indent(below, "    ")  # nothing below stands as far left as the first line
    lines = [first, *below.splitlines()]
    return "\n".join(lines if len(lines) <= MOST_LINES else [*lines[:MOST_LINES], "…"])


def _is_python(text: str) -> bool:
    try:
        parse(text)
    except SyntaxError:
        return False
    return True
