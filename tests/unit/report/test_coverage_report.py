"""The report of ``eqfuzz coverage``: the share of torch beside those of others, and the curves."""

from __future__ import annotations

import io
import json

from rich.console import Console

from eqfuzz.events.coverage import CoverageCount, CoverageStarted, CoverageSummary, ProgramCovered, TraceStarted
from eqfuzz.report.machine.json_lines import to_line
from eqfuzz.report.verbs.coverage import CURVES, CoverageReport, write_curves

STARTED = CoverageStarted(
    seed=0,
    programs=7,
    earlier=3,
    sources=["shipped seeds", "template default"],
    configs=["inductor"],
    strategy="none",
    jobs=1,
    out="out",
    versions={"eqfuzz": "0.1.0", "torch": "2.15.0", "python": "3.11.7"},
)


def figures(programs: int, torch: int, compiler: int) -> CoverageCount:
    return CoverageCount(programs=programs, torch=torch, compiler=compiler)


def summary(**changes) -> CoverageSummary:
    fields = {
        "statements": figures(0, 1000, 500),
        "imported": figures(0, 60, 1),
        "started": figures(0, 200, 150),
        "sources": {"shipped seeds": figures(3, 290, 200), "template default": figures(4, 280, 190)},
        "together": figures(7, 312, 210),
        "curves": {"": [(0, 200), (7, 312)], "shipped seeds": [(0, 200), (3, 290)], "template default": [(0, 200)]},
        "problems": 0,
        "interrupted": False,
        "out_of_time": False,
        "seconds": 60.0,
    }
    return CoverageSummary(**{**fields, **changes})


def report_of(*events, quiet: bool = False) -> str:
    stream = io.StringIO()
    with CoverageReport(Console(file=stream, width=80, highlight=False), quiet=quiet) as report:
        for event in events:
            report.handle(event)
    return stream.getvalue()


def test_share_of_torch_is_beside_those_of_others():
    for quiet in (False, True):
        lines = report_of(STARTED, summary(), quiet=quiet).splitlines()
        assert "torch     31.2 %  (Jin & Wan 2025: 27 %, TorchFuzz: 24.4 %)" in lines
        assert "compiler  42.0 %  (TorchFuzz: 33.5 %)" in lines


def test_table_has_importing_each_source_and_all():
    text = report_of(STARTED, summary())
    rows = [line.split() for line in text.splitlines()]
    assert ["import", "torch", "60", "6.0", "%", "1", "0.2", "%"] in rows
    assert ["shipped", "seeds", "3", "290", "29.0", "%", "200", "40.0", "%"] in rows
    assert ["all", "programs", "7", "312", "31.2", "%", "210", "42.0", "%"] in rows
    assert "resumed: 3 programs traced by earlier calls" in text


def test_programs_with_problems_are_named_and_counted():
    covered = ProgramCovered(
        index=0, source="s", program="a.py", config="inductor", new=1, covered=2, problem="it died", seconds=1.0
    )
    text = report_of(STARTED, TraceStarted(index=0, program="a.py"), covered, summary(problems=1, out_of_time=True))
    assert "a.py: it died" in text
    assert "1 program invalid, or ended early" in text
    assert "Out of time: the same command resumes." in text


def test_curves_are_those_of_all_programs_and_of_the_largest_sources(tmp_path):
    names = [f"template {n}" for n in range(20)]
    sources = {name: figures(1, 200 + n, 150) for n, name in enumerate(names)}
    curves = {"": [(0, 200), (20, 260)], **{name: [(0, 200), (1, 200 + n)] for n, name in enumerate(names)}}
    write_curves(tmp_path / "coverage.svg", STARTED, summary(sources=sources, curves=curves))
    text = (tmp_path / "coverage.svg").read_text()
    assert text.count("<polyline") == 1 + CURVES
    assert "template 19, 21.9 %" in text
    assert "template 0," not in text
    assert "Jin &amp; Wan 2025, 27 %" in text


def test_summary_is_a_line_of_json():
    line = json.loads(to_line(summary()))
    assert line["together"] == {"programs": 7, "torch": 312, "compiler": 210}
    assert line["curves"][""] == [[0, 200], [7, 312]]
