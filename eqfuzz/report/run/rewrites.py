"""Output of ``eqfuzz mutate --dry-run --diff``: every site of a seed, and its variants as diffs."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from rich.console import Console
from rich.rule import Rule as Line
from rich.table import Table
from rich.text import Text

from eqfuzz.events.event import Event
from eqfuzz.events.run import SitesListed, VariantMade
from eqfuzz.program.parsing import parse
from eqfuzz.report.formatting import count, printable
from eqfuzz.report.layout import print_text
from eqfuzz.report.source import SourceDiff
from eqfuzz.report.tables import plain_table, print_table
from eqfuzz.rewrite.rewrite_step import RewriteStep

MOST_LINES = 6
"""Lines of a replaced text in the table of sites; the diffs and the JSON events have all of it."""


class RewritesBySeed:
    """Collects the events of seeds that run at the same time, and prints them seed by seed."""

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
        """Print a seed that is done; nothing for an invalid one."""
        listed, variants = self._sites.pop(index, None), self._variants.pop(index, [])
        if listed is None:
            return
        console = self._console
        counts = f"{count(len(listed.sites), 'site')}, {count(len(variants), 'variant')}"
        console.print(Line(style="dim"))
        head = Text.assemble((printable(listed.seed), "bold"), (f"  {counts}", "dim"))
        print_text(console, head)
        if listed.sites:
            print_table(console, _table(listed.sites))
        for variant in variants:
            console.print()
            _print_variant(console, listed.source, variant)
        console.print()


def _table(sites: Sequence[RewriteStep]) -> Table:
    table = plain_table()
    table.add_column("line", justify="right", style="dim", no_wrap=True)
    table.add_column("rule", no_wrap=True, style="magenta")
    table.add_column("before", overflow="fold")
    table.add_column("after", overflow="fold")
    for site in sorted(sites, key=lambda s: (s.line, s.rule)):
        table.add_row(str(site.line), Text(site.rule), Text(_short(site.before)), Text(_short(site.after)))
    return table


def _print_variant(console: Console, original: str, event: VariantMade) -> None:
    rules = ", ".join(dict.fromkeys(step.rule for step in event.derivation))
    head = Text.assemble((f"variant {event.variant}", "bold"), f"  {rules}", (f"  {event.exactness}", "dim"))
    print_text(console, head)
    console.print(SourceDiff(original, event.source, event.derivation, margin=2), crop=False)


def _short(text: str) -> str:
    """The first lines, without the indentation of the source."""
    first, _, rest = printable(text).strip("\n").partition("\n")
    below = textwrap.dedent(rest)
    if rest and not _is_python(f"{first}\n{below}"):
        below = textwrap.indent(below, "    ")  # no line below is indented as little as the first
    lines = [first, *below.splitlines()]
    return "\n".join(lines if len(lines) <= MOST_LINES else [*lines[:MOST_LINES], "…"])


def _is_python(text: str) -> bool:
    try:
        parse(text)
    except SyntaxError:
        return False
    return True
