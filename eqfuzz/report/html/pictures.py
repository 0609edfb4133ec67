"""Pictures of a finding as SVG elements that the style sheet colours: where a leaf is wrong, and by how much."""

from __future__ import annotations

import math
from collections.abc import Iterable

from markupsafe import Markup

from eqfuzz.oracle.compare.error_map import RATIOS, ErrorMap
from eqfuzz.report.formatting import count

_SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_BAR = 34
_HEIGHT = 96
_CELL = (4, 16)
"""Least and largest width of a cell, in pixels."""

_LEAST_HEIGHT = 24


def error_picture(places: ErrorMap, index: tuple[int, ...] | None) -> Markup:
    """The grid of a map, with a ring around the block of the worst element."""
    rows, columns = len(places.grid), len(places.grid[0])
    edge = max(_CELL[0], min(_CELL[1], 384 // columns))
    tall = max(edge, _LEAST_HEIGHT // rows)
    outlines: dict[str, str] = {}
    for i, row in enumerate(places.grid):
        for j, digit in enumerate(row):
            outline = f"M{j * edge} {i * tall}h{edge - 1}v{tall - 1}h{1 - edge}z"
            outlines[digit] = outlines.get(digit, "") + outline
    cells = [Markup('<path class="w{}" d="{}"/>').format(digit, path) for digit, path in sorted(outlines.items())]
    worst = _block_of(places, index)
    if worst is not None:
        i, j = worst
        cells.append(
            Markup('<rect class="worst" x="{}" y="{}" width="{}" height="{}"/>').format(
                j * edge - 1, i * tall - 1, edge + 1, tall + 1
            )
        )
    return _svg(columns * edge + 2, rows * tall + 2, error_picture_in_words(places), cells, origin=-1.5)


def error_picture_in_words(places: ErrorMap) -> str:
    """``Leaf of shape 4 × 32: 3 of 48 blocks have wrong elements``."""
    blocks = "".join(places.grid)
    wrong = sum(digit != "0" for digit in blocks)
    return f"leaf of shape {shape_in_words(places)}: {wrong} of {count(len(blocks), 'block')} have wrong elements"


def shape_in_words(places: ErrorMap) -> str:
    """``4 × 32``."""
    return " × ".join(map(str, places.shape)) or "()"


def block_in_words(places: ErrorMap) -> str:
    """What a cell of the picture stands for."""
    rows, columns = places.matrix
    height, width = len(places.grid), len(places.grid[0])
    if (rows, columns) == (height, width):
        return "one cell for each element"
    return f"one cell for about {math.ceil(rows / height)} × {math.ceil(columns / width)} elements"


def histogram(places: ErrorMap) -> Markup:
    """Elements by error over allowed error, with the allowed error as a line; empty where there are no errors."""
    if not places.ratios:
        return Markup()
    names = [*(f"≤{_power(end)}" for end in RATIOS), f">{_power(RATIOS[-1])}", "nan"]
    largest = math.log10(1 + max(places.ratios)) or 1.0
    allowed = RATIOS.index(1.0) + 1
    body: list[Markup] = []
    for number, (name, elements) in enumerate(zip(names, places.ratios, strict=True)):
        height = math.log10(1 + elements) / largest * _HEIGHT
        x, y = number * _BAR, 16 + _HEIGHT - height
        kind = "within" if number < allowed else "beyond"
        body.append(
            Markup('<rect class="{}" x="{}" y="{:.1f}" width="{}" height="{:.1f}"/>').format(
                kind, x + 3, y, _BAR - 6, height
            )
        )
        if elements:
            body.append(_label(x + _BAR / 2, y - 3, f"{elements:,}"))
        body.append(_label(x + _BAR / 2, 16 + _HEIGHT + 13, name))
    at = allowed * _BAR
    body.append(Markup('<line class="allowed" x1="{0}" x2="{0}" y1="4" y2="{1}"/>').format(at, 16 + _HEIGHT))
    beyond = sum(places.ratios[allowed:])
    words = f"{count(sum(places.ratios), 'element')} by error over allowed error; {beyond:,} beyond what is allowed"
    return _svg(len(names) * _BAR, _HEIGHT + 36, words, body)


def bar(number: int, most: int, kind: str) -> Markup:
    """A bar beside a number in a table, which says nothing that the number does not."""
    width = 0.0 if not most else max(100 * number / most, 1.5 if number else 0.0)
    return Markup(
        '<svg class="bar" width="100" height="10" viewBox="0 0 100 10" aria-hidden="true" focusable="false">'
        '<rect class="{}" width="{:.1f}" height="10" rx="2"/></svg>'
    ).format(kind, width)


def _power(number: float) -> str:
    """``0.1``, ``10``, ``10⁴``."""
    return f"10{_SUPERSCRIPTS[round(math.log10(number))]}" if number > 10 else f"{number:g}"


def _block_of(places: ErrorMap, index: tuple[int, ...] | None) -> tuple[int, int] | None:
    """The row and column of the grid that an element is in."""
    if index is None or len(index) != len(places.shape) or not index:
        return None
    rows, columns = places.matrix
    row = 0
    for at, size in zip(index[:-1], places.shape[:-1], strict=True):
        row = row * size + at
    if not (row < rows and index[-1] < columns):
        return None
    return row * len(places.grid) // rows, index[-1] * len(places.grid[0]) // columns


def _label(x: float, y: float, text: str) -> Markup:
    return Markup('<text x="{:.1f}" y="{:.1f}" text-anchor="middle">{}</text>').format(x, y, text)


def _svg(width: float, height: float, words: str, body: Iterable[Markup], *, origin: float = 0) -> Markup:
    box = f"{origin} {origin} {width:.0f} {height:.0f}"
    return Markup(
        '<svg class="picture" role="img" aria-label="{}" width="{:.0f}" height="{:.0f}" viewBox="{}">{}</svg>'
    ).format(words, width, height, box, Markup().join(body))
