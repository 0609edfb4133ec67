"""The generator's operators as tables."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from eqfuzz.generate.dag.catalogue.listing import dtypes_in_words, ranks_in_words
from eqfuzz.report.formatting import count
from eqfuzz.report.tables import plain_table, print_table

WIDE = 120
"""Columns of a console that shows ranks and dtypes beside the descriptions."""


def print_operators(console: Console, entries: Sequence[Mapping[str, Any]]) -> None:
    """The operators of each family below its name, with their descriptions; on a wide console their results too."""
    families = 0
    for family, members in itertools.groupby(entries, key=lambda entry: entry["family"]):
        families += 1
        print_table(console, _table(family, list(members), wide=console.width >= WIDE))
        console.print()
    total = f"{count(len(entries), 'operator')} in {count(families, 'family', 'families')}"
    console.print(Text(total, style="bold"))


def _table(family: str, members: Sequence[Mapping[str, Any]], *, wide: bool) -> Table:
    table = plain_table()
    table.add_column(family, no_wrap=True)
    if wide:
        table.add_column("ranks", no_wrap=True)
        table.add_column("dtypes", overflow="fold")
    table.add_column("description", overflow="fold", style="dim", ratio=1)
    for entry in members:
        result = [ranks_in_words(entry), dtypes_in_words(entry)] if wide else []
        table.add_row(Text(entry["name"]), *result, Text(entry["about"]))
    return table
