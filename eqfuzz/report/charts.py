"""Charts as SVG: values with their intervals by row, and curves. The same data give the same text."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from xml.sax.saxutils import escape, quoteattr

COLOURS = ("#c2410c", "#1d4ed8", "#15803d", "#7e22ce", "#b45309", "#0e7490", "#be123c", "#4d7c0f")
"""Of series: different on paper too, and for most colour-blind readers."""

_FONT = 12
_CHARACTER = 0.58 * _FONT
"""Mean width of a character."""

_MARGIN = 16
_ROW = 30
_RADIUS = 4.5


@dataclasses.dataclass(frozen=True)
class ChartMark:
    """A value with the bounds of its interval, in the ``series`` of that number."""

    series: int
    value: float
    low: float
    high: float


@dataclasses.dataclass(frozen=True)
class Series:
    """A series of marks or points: its name, its colour (a number in ``COLOURS``), and whether its marks are filled."""

    name: str
    colour: int
    filled: bool = True
    points: tuple[tuple[float, float], ...] = ()


@dataclasses.dataclass(frozen=True)
class Level:
    """A horizontal line for comparison, at ``value``."""

    name: str
    value: float


def dot_chart(
    title: str,
    axis: str,
    series: Sequence[Series],
    rows: Sequence[tuple[str, Sequence[ChartMark]]],
    *,
    in_words: Callable[[float], str],
    note: str = "",
) -> str:
    """Rows of marks along a logarithmic axis, as SVG; values are positive, and there is at least one."""
    values = [bound for _, marks in rows for mark in marks for bound in (mark.low, mark.high)]
    first, last = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    last = max(last, first + 1)
    left = _MARGIN + _CHARACTER * max(len(label) for label, _ in rows) + 12
    top, width = 78, 560
    bottom = top + _ROW * len(rows)

    def x(value: float) -> float:
        return left + width * (math.log10(value) - first) / (last - first)

    body = [*_head(title, note), *_mark_legend(series, left, 58)]
    for exponent in range(first, last + 1):
        at = x(10.0**exponent)
        body.append(_line(at, top, at, bottom, "#d4d4d4"))
        body.append(_text(at, bottom + 18, in_words(10.0**exponent), anchor="middle"))
    body.append(_text(left + width / 2, bottom + 38, axis, anchor="middle"))
    for number, (label, marks) in enumerate(rows):
        y = top + _ROW * number
        body.append(_line(left, y + _ROW, left + width, y + _ROW, "#e5e5e5"))
        body.append(_text(left - 8, y + _ROW / 2 + 4, label, anchor="end"))
        for mark in marks:
            body += _mark(mark, series[mark.series], x, y + _ROW * (mark.series + 1) / (len(series) + 1))
    return _svg(left + width + 40, bottom + 54, body)


def line_chart(
    title: str, x_axis: str, y_axis: str, series: Sequence[Series], levels: Sequence[Level] = (), *, note: str = ""
) -> str:
    """Curves over a linear axis that begins at 0, as SVG, with levels to compare them with; values are not negative."""
    points = [point for one in series for point in one.points]
    x_ticks = _ticks(max(x for x, _ in points))
    y_ticks = _ticks(max([*(y for _, y in points), *(level.value for level in levels)]))
    left, width, height = 72.0, 600.0, 320.0
    top = 62.0 + 18 * len(series)
    bottom = top + height

    def at(point: tuple[float, float]) -> tuple[float, float]:
        return left + width * point[0] / x_ticks[-1], bottom - height * point[1] / y_ticks[-1]

    body = [*_head(title, note), *_curve_legend(series, left, 64)]
    for tick in y_ticks:
        _, y = at((0, tick))
        body += [_line(left, y, left + width, y, "#e5e5e5"), _text(left - 8, y + 4, f"{tick:g}", anchor="end")]
    for tick in x_ticks:
        x, _ = at((tick, 0))
        body += [_line(x, bottom, x, bottom + 4, "#737373"), _text(x, bottom + 18, f"{tick:g}", anchor="middle")]
    body.append(_text(left + width / 2, bottom + 40, x_axis, anchor="middle"))
    middle = top + height / 2
    body.append(
        f'<text x="18" y="{middle:.1f}" text-anchor="middle" transform="rotate(-90 18 {middle:.1f})">'
        f"{escape(y_axis)}</text>"
    )
    for level in levels:
        _, y = at((0, level.value))
        body.append(_line(left, y, left + width, y, "#737373", dashed=True))
        body.append(_text(left + width - 4, y - 4, level.name, anchor="end", colour="#525252"))
    for one in series:
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in map(at, one.points))
        body.append(f'<polyline points="{path}" fill="none" stroke="{COLOURS[one.colour]}" stroke-width="2"/>')
    return _svg(left + width + 40, bottom + 56, body)


def _mark(mark: ChartMark, series: Series, x: Callable[[float], float], y: float) -> Iterator[str]:
    colour = COLOURS[series.colour]
    yield _line(x(mark.low), y, x(mark.high), y, colour, width=2)
    for bound in (mark.low, mark.high):
        yield _line(x(bound), y - 3, x(bound), y + 3, colour)
    yield _dot(x(mark.value), y, series)


def _dot(x: float, y: float, series: Series) -> str:
    colour = COLOURS[series.colour]
    fill = colour if series.filled else "#ffffff"
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{_RADIUS}" fill="{fill}" stroke="{colour}" stroke-width="1.5"/>'


def _head(title: str, note: str) -> Iterator[str]:
    yield f'<text x="{_MARGIN}" y="24" font-size="15" font-weight="bold">{escape(title)}</text>'
    if note:
        yield _text(_MARGIN, 42, note, colour="#525252")


def _mark_legend(series: Iterable[Series], x: float, y: float) -> Iterator[str]:
    for one in series:
        yield _dot(x + _RADIUS, y, one)
        yield _text(x + 14, y + 4, one.name)
        x += 34 + _CHARACTER * len(one.name)


def _curve_legend(series: Iterable[Series], x: float, y: float) -> Iterator[str]:
    """One entry below the other."""
    for one in series:
        yield _line(x, y, x + 22, y, COLOURS[one.colour], width=2)
        yield _text(x + 30, y + 4, one.name)
        y += 18


def _ticks(largest: float) -> list[float]:
    """From 0 up to at least ``largest``, in about five round steps; up to 1 where all is 0."""
    largest = largest or 1.0
    rough = largest / 5
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * factor for factor in (1, 2, 2.5, 5, 10) if size * factor >= rough)
    return [step * n for n in range(math.ceil(largest / step) + 1)]


def _line(x1: float, y1: float, x2: float, y2: float, colour: str, *, width: float = 1, dashed: bool = False) -> str:
    dashes = ' stroke-dasharray="5 4"' if dashed else ""
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" '
        f'stroke-width="{width:g}"{dashes}/>'
    )


def _text(x: float, y: float, text: str, *, anchor: str = "start", colour: str = "#171717") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill={quoteattr(colour)}>{escape(text)}</text>'


def _svg(width: float, height: float, body: Iterable[str]) -> str:
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="sans-serif" font-size="{_FONT}">',
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        *body,
        "</svg>",
    ]
    return "\n".join(lines) + "\n"
