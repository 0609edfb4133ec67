"""Tables of every report and listing: without frames, and with names that can be copied however narrow the console."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from textwrap import wrap

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions
from rich.measure import Measurement
from rich.segment import Segment, Segments
from rich.table import Column, Table
from rich.text import Text

StyledText = tuple[str, str]
"""A text without control characters, and its style."""

_GAP = 3
"""Columns between two cells."""

_BREAK = Segment.line()

_LEAST_WIDTH = 16
"""Columns that a cell of several words has at least, beside names that stay whole."""


def plain_table(title: str = "", note: str = "") -> Table:
    """An empty table with a heading, if there is one; ``note`` stands dim beside it."""
    heading = Text.assemble((title, "bold"), (f"  {note}" if note else "", "dim")) if title else None
    return Table(title=heading, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)


def print_table(console: Console, table: Table) -> None:
    """Print ``table``; what stands in a column with ``no_wrap`` stays whole, and at last the lines are too long."""
    for column in table.columns:
        if column.no_wrap:
            column.min_width = _whole_width(console, column)
    needed = needed_width(console, table)
    if needed > console.width:
        table.width = needed
    console.print(table, crop=False)


def needed_width(console: Console, table: Table) -> int:
    """The least width in which what stands in columns with ``no_wrap`` stays whole."""
    needed = Measurement.get(console, _unlimited(console), table).maximum
    wrapped = (column for column in table.columns if not column.no_wrap)
    return needed - sum(max(0, _whole_width(console, column) - _LEAST_WIDTH) for column in wrapped)


def _whole_width(console: Console, column: Column) -> int:
    return max(Measurement.get(console, _unlimited(console), cell).maximum for cell in (column.header, *column.cells))


def _unlimited(console: Console) -> ConsoleOptions:
    return console.options.update_width(10_000)


def print_listing(
    console: Console, heads: Sequence[str], rows: Sequence[Sequence[StyledText]], *, texts: int = 0
) -> None:
    """Print many rows in the same form: a thousand take a tenth of the time.

    Cells stay whole, except those of the last ``texts`` columns, whose lines are broken between words.
    """
    columns = zip(heads, *([text for text, _ in row] for row in rows), strict=True)
    widths = [max(map(cell_len, column)) for column in columns]
    gaps = _GAP * (len(widths) - 1)
    names = len(widths) - texts
    left = console.width - gaps - sum(widths[:names])
    for column in range(names, len(widths)):
        widths[column] = min(widths[column], max(_LEAST_WIDTH, left // (len(widths) - column)))
        left -= widths[column]
    rule = "─" * min(sum(widths) + gaps, console.width)
    lines = [*_lines([(head, "bold") for head in heads], widths), [(rule, "")]]
    for row in rows:
        lines += _lines(row, widths)
    styles = {style: console.get_style(style) for style in {style for line in lines for _, style in line}}
    console.print(
        Segments(segment for line in lines for segment in (*(Segment(text, styles[s]) for text, s in line), _BREAK)),
        soft_wrap=True,
        end="",
    )


def _lines(cells: Sequence[StyledText], widths: Sequence[int]) -> list[list[StyledText]]:
    """The cells side by side, those that are too wide on several lines."""
    parts = [
        wrap(text, width, break_on_hyphens=False, break_long_words=False) if cell_len(text) > width else [text]
        for (text, _), width in zip(cells, widths, strict=True)
    ]
    styles = [style for _, style in cells]
    rows = zip_longest(*parts, fillvalue="")
    return [_line(list(zip(row, styles, strict=True)), widths) for row in rows]


def _line(cells: Sequence[StyledText], widths: Sequence[int]) -> list[StyledText]:
    """The cells side by side; empty ones at the end are left out."""
    last = max((i for i, (text, _) in enumerate(cells) if text), default=0)
    padded = [
        (text + " " * (width - cell_len(text) + _GAP), style)
        for (text, style), width in zip(cells, widths, strict=True)
    ]
    return [*padded[:last], cells[last]]
