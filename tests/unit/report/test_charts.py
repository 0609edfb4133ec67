"""Charts as SVG: they are well formed, and their marks lie where their values say."""

from __future__ import annotations

import itertools
import xml.etree.ElementTree as ET

import pytest

from eqfuzz.report.charts import ChartMark, Level, Series, dot_chart, line_chart

NAMESPACE = "{http://www.w3.org/2000/svg}"
SERIES = (Series("original", 0, filled=False), Series("transformed", 1))


def elements(chart: str, name: str) -> list[ET.Element]:
    return list(ET.fromstring(chart).iter(NAMESPACE + name))


def texts(chart: str) -> list[str]:
    return [element.text or "" for element in elements(chart, "text")]


def dots(rows):
    return dot_chart("Speed", "seconds", SERIES, rows, in_words="{:g}".format)


def test_rows_are_labelled_and_their_marks_ordered_by_value():
    chart = dots([("seeds/<a> & b.py", [ChartMark(0, 1e-5, 9e-6, 2e-5), ChartMark(1, 1e-3, 9e-4, 1.1e-3)])])
    assert "seeds/<a> & b.py" in texts(chart)
    assert {"original", "transformed", "1e-06", "0.01"} <= set(texts(chart))
    legend, marks = elements(chart, "circle")[:2], elements(chart, "circle")[2:]
    assert [circle.get("fill") == "#ffffff" for circle in (*legend, *marks)] == [True, False, True, False]
    left, right = (float(circle.get("cx", "")) for circle in marks)
    assert left < right


def test_decades_are_equally_far_apart():
    rows = [(f"row {n}", [ChartMark(0, 10.0**-n, 10.0**-n, 10.0**-n)]) for n in range(1, 5)]
    places = [float(circle.get("cx", "")) for circle in elements(dots(rows), "circle")[2:]]
    steps = [a - b for a, b in itertools.pairwise(places)]
    assert steps == pytest.approx([steps[0]] * 3, abs=0.2)


def test_values_within_one_decade_have_an_axis():
    assert len(elements(dots([("one", [ChartMark(0, 1e-3, 1e-3, 1e-3)])]), "circle")) == 3


def test_curve_passes_through_its_points_and_levels_are_dashed():
    curve = Series("all", 1, points=((0, 10.0), (50, 25.0), (100, 30.0)))
    chart = line_chart("Coverage", "programs", "%", [curve], [Level("the paper", 27.0)])
    [line] = elements(chart, "polyline")
    points = [tuple(map(float, pair.split(","))) for pair in (line.get("points") or "").split()]
    assert [x for x, _ in points] == sorted(x for x, _ in points)
    assert [y for _, y in points] == sorted((y for _, y in points), reverse=True)
    dashed = [element for element in elements(chart, "line") if element.get("stroke-dasharray")]
    level = max(float(element.get("y1", "")) for element in dashed)
    assert points[2][1] < level < points[1][1]
    assert {"the paper", "all", "programs", "%", "0", "100"} <= set(texts(chart))


def test_equal_data_give_equal_text():
    rows = [("one", [ChartMark(0, 1e-3, 9e-4, 2e-3)])]
    assert dots(rows) == dots(rows)
