"""``eqfuzz rules``: the rule library as a table."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated

import typer

from eqfuzz.cli.exits import USAGE, complain


class Format(StrEnum):
    TEXT = "text"
    JSON = "json"


def rules(
    selection: Annotated[
        str, typer.Argument(metavar="[SELECTION]", help="Rules by name: 'shape/*,-shape/flip*' (default: all).")
    ] = "",
    format: Annotated[Format, typer.Option(help="json: one rule per line.")] = Format.TEXT,
) -> None:
    """List the rewrite rules."""
    from eqfuzz.rewrite.library import select, shipped_rules

    try:
        chosen = select(shipped_rules(), selection)
    except ValueError as error:
        complain(str(error))
        raise typer.Exit(USAGE) from None
    if format is Format.JSON:
        for rule in chosen:
            fields = {
                "family": rule.family,
                "name": rule.name,
                "exactness": str(rule.exact),
                "gradients": rule.gradients,
                "source": rule.source,
                "doc": rule.doc,
            }
            print(json.dumps(fields))
        return

    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from eqfuzz.report.figures import count

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("family", style="dim", no_wrap=True)
    table.add_column("name", overflow="fold")
    table.add_column("exactness", no_wrap=True)
    table.add_column("source", overflow="fold", style="dim")
    for rule in chosen:
        table.add_row(Text(rule.family), Text(rule.name.partition("/")[2]), str(rule.exact), Text(rule.source))
    console = Console(highlight=False)
    console.print(table)
    families = len({rule.family for rule in chosen})
    console.print(f"{count(len(chosen), 'rule')} in {count(families, 'family', 'families')}", style="bold")
