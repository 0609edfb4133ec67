"""The generator's operators as tables."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from eqfuzz.generate.dag.catalogue.listing import dtypes_in_words, ranks_in_words
from eqfuzz.report.formatting import count
from eqfuzz.report.tables import print_listing

WIDE = 120
"""Columns of a console that shows ranks and dtypes beside the descriptions."""


def print_operators(console: Console, entries: Sequence[Mapping[str, Any]]) -> None:
    """The operators of each family below its name, with their descriptions; on a wide console their results too."""
    families = 0
    for family, members in itertools.groupby(entries, key=lambda entry: entry["family"]):
        families += 1
        _print_family(console, family, list(members))
        console.print()
    total = f"{count(len(entries), 'operator')} in {count(families, 'family', 'families')}"
    console.print(Text(total, style="bold"))


def _print_family(console: Console, family: str, members: Sequence[Mapping[str, Any]]) -> None:
    if console.width < WIDE:
        rows = [[(entry["name"], ""), (entry["about"], "dim")] for entry in members]
        print_listing(console, (family, "description"), rows, texts=1)
        return
    rows = [
        [(entry["name"], ""), (ranks_in_words(entry), ""), (dtypes_in_words(entry), ""), (entry["about"], "dim")]
        for entry in members
    ]
    print_listing(console, (family, "ranks", "dtypes", "description"), rows, texts=2)
