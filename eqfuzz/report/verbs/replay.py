"""Outcomes of replayed findings as a table: one row per bucket, one column per interpreter."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from eqfuzz.program.release import Release
from eqfuzz.report.formatting import printable
from eqfuzz.report.tables import plain_table
from eqfuzz.triage.confirm.replay import ERROR, FIXED, STILL_FAILING

STYLES = {FIXED: "bold green", STILL_FAILING: "bold red", ERROR: "bold yellow"}

_ABOUT_WIDTH = 20
"""Columns that the description of a row has at least."""


@dataclasses.dataclass(frozen=True)
class ReplayRow:
    """A bucket, or a finding that is in none. ``statuses`` are, by interpreter, those of its findings."""

    name: str
    about: str
    statuses: tuple[tuple[str, ...], ...]


def column_heads(releases: Sequence[Release]) -> list[str]:
    """``2.15.0 cu132``; a second interpreter with the same torch is ``2.15.0 cu132 (2)``."""
    names = [str(release) for release in releases]
    return [name + (f" ({names[:i].count(name) + 1})" if name in names[:i] else "") for i, name in enumerate(names)]


def print_outcomes(console: Console, heads: Sequence[str], rows: Sequence[ReplayRow]) -> None:
    """A row for each of ``rows``, a column for each interpreter; names are never broken, however narrow it is.

    Where it does not fit, the columns of the interpreters break between words, and at last the lines are too long.
    """
    cells = [[_cell(statuses) for statuses in row.statuses] for row in rows]
    columns = [[head, *(line[i].plain for line in cells)] for i, head in enumerate(heads)]
    names = max(len(row.name) for row in rows)
    whole = [max(map(len, column)) for column in columns]
    broken = [max(len(word) for text in column for word in text.split()) for column in columns]
    rest = console.width - names - 2
    widths = whole if rest - sum(2 + width for width in whole) >= _ABOUT_WIDTH else broken
    about = max(rest - sum(2 + width for width in widths), _ABOUT_WIDTH)
    table = plain_table()
    table.padding = (0, 1, 0, 0)
    table.width = names + 2 + sum(2 + width for width in widths) + about
    table.add_column("", no_wrap=True, width=names)
    for head, width in zip(heads, widths, strict=True):
        table.add_column(head, width=width)
    table.add_column("", overflow="fold", width=about)
    for row, line in zip(rows, cells, strict=True):
        table.add_row(Text(row.name, style="bold cyan"), *line, Text(printable(row.about), style="dim"))
    console.print(table, crop=False)
    mixed = [cell.plain.split(",")[0] for line in cells for cell in line if " of " in cell.plain]
    if mixed:
        console.print(Text(f"{mixed[0]}: so many of the bucket's findings still fail", style="dim"))


def in_words(statuses: Sequence[str]) -> str:
    """``2 still failing, 1 fixed``."""
    counts = Counter(statuses)
    return ", ".join(f"{counts[status]:,} {status.lower()}" for status in STYLES if counts[status])


def _cell(statuses: Sequence[str]) -> Text:
    """The outcome that all have, or how many still fail."""
    counts = Counter(statuses)
    if len(counts) == 1:
        return Text(statuses[0].lower(), style=STYLES[statuses[0]])
    text = f"{counts[STILL_FAILING]} of {len(statuses)}" + (f", {counts[ERROR]} error" if counts[ERROR] else "")
    return Text(text, style=STYLES[STILL_FAILING if counts[STILL_FAILING] else ERROR])
