"""Reports of checks: what they say, on a terminal, in a notebook and as an assertion."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from eqfuzz.api.report import NotEquivalent, Report
from eqfuzz.commands.models.check_log import unusable
from eqfuzz.events.model_check import UseChecked

AGREES = UseChecked(title="forward and backward", outcome="agrees", cells=2, seconds=3.0)
DIFFERS = UseChecked(
    title="evaluation",
    outcome="differs",
    cells=1,
    kind="wrong-result",
    message="wrong-result: eager gives 0 and compiled gives 1",
    finding="0123456789",
    submodule="layers.1",
    reduced="abcdefabcd",
    program="def program(x):\n    return x[None] < 3\n",
)
UNTRIED = UseChecked(title="a training step", outcome="not tried")
INCONCLUSIVE = UseChecked(title="autocast to bfloat16", outcome="not comparable", cells=1, message="inconclusive: jump")
KNOWN = UseChecked(title="dynamic sizes", outcome="known issue", cells=1, issue="https://example.com/1")


def report(*uses: UseChecked) -> Report:
    return Report(model="shop.net:Net", uses=uses, seconds=2.0, out=Path("out"), is_complete=UNTRIED not in uses)


def test_report_agrees_where_something_was_compared_and_nothing_differs():
    assert report(AGREES, UNTRIED).agrees
    assert not report(UNTRIED).agrees
    assert not report(AGREES, DIFFERS).agrees
    assert report(AGREES, DIFFERS).differences == (DIFFERS,)
    assert not report(AGREES, UNTRIED).is_complete
    assert not report(AGREES, INCONCLUSIVE).agrees
    assert report(AGREES, INCONCLUSIVE, UNTRIED).undecided == (INCONCLUSIVE, UNTRIED)


def test_known_issue_is_a_difference():
    it = report(AGREES, KNOWN)
    assert it.differs
    assert not it.agrees
    assert it.differences[0].issue == "https://example.com/1"
    assert "compiled code differs from eager, as is known" in str(it)


def test_text_has_table_numbers_and_program():
    text = str(report(AGREES, DIFFERS))
    assert text.startswith("shop.net:Net: compiled code differs from eager")
    assert "evaluation: in layers.1, wrong-result: eager gives 0 and compiled gives 1 [0123456789]" in text
    assert "these 2 lines differ in the same way [abcdefabcd]:" in text
    assert "    return x[None] < 3" in text
    assert max(map(len, text.splitlines())) <= 100


def test_terminal_and_assertion_say_the_same():
    stream = io.StringIO()
    Console(file=stream, width=100).print(report(AGREES, DIFFERS))
    assert stream.getvalue().rstrip() == str(report(AGREES, DIFFERS))
    error = NotEquivalent(report(DIFFERS))
    assert isinstance(error, AssertionError)
    assert str(error) == str(error.report)


def test_notebook_shows_the_same_as_escaped_html():
    html = report(DIFFERS)._repr_html_()
    assert html.startswith("<pre")
    assert "x[" in html
    assert "&lt;" in html
    assert "evaluation" in html


class ZMQInteractiveShell:
    """What rich takes for a notebook."""


def test_text_is_the_same_in_a_notebook(monkeypatch: pytest.MonkeyPatch):
    text = str(report(DIFFERS))
    monkeypatch.setattr("builtins.get_ipython", ZMQInteractiveShell, raising=False)
    assert Console().is_jupyter
    assert str(report(DIFFERS)) == text


def test_model_that_never_runs_is_unusable():
    invalid = UseChecked(title="evaluation", outcome="invalid", message="raises in eager: ValueError: no")
    assert unusable([invalid, UNTRIED]) == "raises in eager: ValueError: no"
    assert unusable([AGREES, invalid]) == ""
    assert unusable([UNTRIED]) == ""
