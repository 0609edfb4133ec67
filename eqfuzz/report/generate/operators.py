"""The generator's operators as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from eqfuzz.report.formatting import count
from eqfuzz.report.run.console import make_console


def print_operators(entries: Sequence[dict[str, Any]]) -> None:
    """Each family's operators, with ranks, dtypes and the first way to write them."""
    console = make_console()
    table = Table(show_lines=False)
    for heading in ("family", "operator", "ranks", "dtypes", "written"):
        table.add_column(heading, overflow="fold")
    before = ""
    for entry in entries:
        family = entry["family"] if entry["family"] != before else ""
        before = entry["family"]
        ranks = f"{entry['ranks'][0]}-{entry['ranks'][-1]}" if entry["ranks"] else "number"
        written = entry["spellings"][0] if entry["spellings"] else entry["about"]
        dtypes = f"{len(entry['dtypes'])} dtypes" if len(entry["dtypes"]) > 3 else ", ".join(entry["dtypes"])
        table.add_row(Text(family, style="bold"), Text(entry["name"]), ranks, dtypes, Text(written))
    console.print(table)
    console.print(f"{count(len(entries), 'operator')} in {len({entry['family'] for entry in entries})} families")
