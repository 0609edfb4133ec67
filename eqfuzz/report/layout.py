"""Layout of texts in which names, paths and commands stay whole: lines are broken between words only.

What is longer than the console is left to the terminal, from which it can be copied in one piece.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.segment import Segment
from rich.text import Text

_WORD = re.compile(r"^\s*\S*\s*|\S+\s*")
"""A word with the space after it, the first of a line also with its indentation."""

_GAP = 2
"""Columns between labels and texts."""

_LEAST_WIDTH = 16
"""Columns that texts have at least."""


def between_words(text: Text, width: int) -> Text:
    """``text`` with its lines broken between words, each at most ``width`` columns wide unless a word is wider."""
    lines: list[Text] = []
    for line in text.split("\n", allow_blank=True):
        breaks: list[int] = []
        used = 0
        for word in _WORD.finditer(line.plain):
            if used and used + cell_len(word[0].rstrip()) > width:
                breaks.append(word.start())
                used = 0
            used += cell_len(word[0])
        parts = line.divide(breaks)
        for part in parts:
            part.rstrip()
        lines += parts
    return Text("\n", no_wrap=True, overflow="ignore").join(lines)


def print_text(console: Console, text: Text) -> None:
    """Print a text; elsewhere than on a terminal each of its lines is left as it is."""
    console.print(between_words(text, console.width) if console.is_terminal else text, soft_wrap=True)


@dataclasses.dataclass(frozen=True)
class LabelledTexts:
    """A rich renderable: texts, each beside its label, ``margin`` columns from the left."""

    rows: Sequence[tuple[str, Text]]
    margin: int = 0

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        indent = self._indent()
        for label, text in self.rows:
            broken = between_words(text, max(options.max_width - indent, _LEAST_WIDTH))
            for number, line in enumerate(broken.split("\n", allow_blank=True)):
                head = " " * self.margin + ("" if number else label)
                yield Text.assemble((head.ljust(indent), "dim"), line, no_wrap=True, overflow="ignore")

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        texts = [text.plain for _, text in self.rows]
        lines, words = (
            [cell_len(part) for text in texts for part in parts(text)] for parts in (str.splitlines, str.split)
        )
        return Measurement(self._indent() + max(words, default=0), self._indent() + max(lines, default=0))

    def _indent(self) -> int:
        return self.margin + max((len(label) for label, _ in self.rows), default=0) + _GAP


@dataclasses.dataclass(frozen=True)
class Framed:
    """A rich renderable: parts below a title, with a frame that is open on the right, where lines may be too long."""

    title: Text
    parts: Sequence[RenderableType]
    style: str
    width: int

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        style = console.get_style(self.style)
        inner = options.update_width(self.width - 2)
        top = Text.assemble(("╭─", self.style), self.title, no_wrap=True, overflow="ignore")
        top.append("─" * max(self.width - cell_len(top.plain), 0), self.style)
        yield top
        for part in self.parts:
            whole = between_words(part, inner.max_width) if isinstance(part, Text) else part
            for line in Segment.split_lines(console.render(whole, inner)):
                yield Segment("│ ", style)
                yield from line
                yield Segment.line()
        yield Text("╰" + "─" * (self.width - 1), self.style, no_wrap=True)
