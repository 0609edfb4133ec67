"""Progress of a known number of steps."""

import io

import pytest
from rich.console import Console
from rich.text import Text

from eqfuzz.report.progress import ProgressCounter


@pytest.fixture
def clock():
    return [0.0]


@pytest.fixture
def counter(clock):
    return ProgressCounter("rules", 1204, clock=lambda: clock[0])


def rendered(counter, width):
    console = Console(file=io.StringIO(), width=width)
    console.print(counter.display())
    return console.file.getvalue()


def test_line_has_counts_note_and_estimate(counter, clock):
    for _ in range(301):
        counter.advance()
    clock[0] = 60.0
    counter.note = Text("3 do not hold")
    assert counter.line() == "301/1,204 rules, 3 do not hold, 1 min 00 s so far, about 3 min 00 s left"


def test_nothing_is_estimated_before_the_first_step(counter):
    assert counter.line() == "0/1,204 rules, 0.0 s so far"


def test_steps_are_counted_without_an_estimate_while_their_number_is_unknown():
    counter = ProgressCounter("rules")
    counter.advance()
    assert counter.line() == "rules: 1, 0.0 s so far"


def test_begin_restarts_counts_and_clock(counter, clock):
    counter.advance()
    clock[0] = 60.0
    counter.begin(2)
    clock[0] = 70.0
    counter.advance()
    assert counter.line() == "1/2 rules, 10 s so far, about 10 s left"


def test_time_budget_bounds_the_estimate(clock):
    counter = ProgressCounter("seeds", 10, time_budget=15.0, clock=lambda: clock[0])
    counter.advance()
    clock[0] = 10.0
    assert counter.line().endswith("about 5.0 s left")


@pytest.mark.parametrize("width", [80, 100])
def test_display_fits_the_terminal_and_names_running_steps(counter, clock, width):
    for index in range(6):
        counter.start(index, f"family/rule_{index}")
    counter.finish(0)
    clock[0] = 3600.0
    text = rendered(counter, width)
    assert max(map(len, text.splitlines())) <= width
    assert "1/1,204 rules" in text
    assert "family/rule_0" not in text
    assert "family/rule_4" in text
    assert "and 1 more" in text
