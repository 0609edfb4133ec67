"""A reduction on the console: the curve while it lasts, the smaller finding at its end."""

import dataclasses
import io

import pytest
from rich.console import Console

from eqfuzz.report.run.findings import ListedFinding, print_listed
from eqfuzz.report.verbs.reduce import ReductionCurve, print_reduced
from eqfuzz.triage.findings.finding import ReductionResult
from eqfuzz.triage.reduce.finding_reducer import ReductionTry
from tests.unit.triage.findings import finding_of

from . import sample_events as sample


@pytest.fixture
def console():
    return Console(file=io.StringIO(), width=100, highlight=False)


def output_of(console):
    return console.file.getvalue()


def test_curve_shows_accepted_sizes(console):
    curve = ReductionCurve(console)
    for size, holds in ((31, True), (20, False), (16, True), (4, True)):
        curve.take(ReductionTry("statements", size, holds))
    assert curve.line().startswith("statements: 31 → 4, 4 tries, ")
    with console.capture() as drawn:
        console.print(curve.display())
    assert drawn.get().startswith("█▅▂  statements")


def test_each_phase_has_its_own_curve(console):
    curve = ReductionCurve(console)
    assert curve.line().startswith("calls: 0 tries, ")
    curve.take(ReductionTry("rewrites", 3, True))
    curve.take(ReductionTry("options", 0, False))
    assert curve.line().startswith("options: 0 → 0, 2 tries, ")
    with console.capture() as drawn:
        console.print(curve.display())
    assert drawn.get().startswith("▁  options")


def test_reduced_finding_is_printed_with_sizes(console):
    smaller = dataclasses.replace(sample.finding(), reduced=ReductionResult((3, 0), (20, 1), (900, 60), 57))
    print_reduced(console, smaller, "out/findings/00aa11bb22", "out", bucket="b35766e3")
    assert "reduced: rewrites 3 → 0, statements 20 → 1, characters 900 → 60, 57 tries" in output_of(console)
    assert "from 20 statements to 1" in output_of(console)
    assert "bucket   b35766e3" in output_of(console)


def test_panel_names_bucket(console):
    from eqfuzz.report.run.finding_panel import print_finding

    event = dataclasses.replace(sample.finding_event(sample.finding()), bucket="b1234567")
    event = dataclasses.replace(event, finding=dataclasses.replace(event.finding, fingerprint="values · amin"))
    print_finding(console, event, "out")
    assert "b1234567  values · amin" in output_of(console)


def test_each_bucket_has_one_heading(console):
    amin = [finding_of(id=id, fingerprint="values · amin") for id in ("a1", "a2")]
    lost = finding_of(id="c3")
    listed = [
        ListedFinding(amin[0], "b1", 7, "https://u/1"),
        ListedFinding(amin[1], "b1", 7, "https://u/1"),
        ListedFinding(lost, "", 1, ""),
    ]
    print_listed(console, listed)
    lines = [line.strip() for line in output_of(console).splitlines()]
    assert lines[0] == "b1  values · amin  (7 findings)  known: https://u/1"
    assert [line.split()[0] for line in lines[1:]] == ["a1", "a2", "c3"]
    assert lines[3].endswith("AOTAutograd")
    assert not lines[1].endswith("AOTAutograd")
