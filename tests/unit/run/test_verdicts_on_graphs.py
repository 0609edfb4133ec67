"""A cell ends with its graphs where these are right, or where nothing can be said of them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest

from eqfuzz.oracle.compare.verdict import Evidence, Verdict, VerdictKind
from eqfuzz.run.configs.named import DEFAULT_CONFIG
from eqfuzz.run.jobs.cell_judge import CellJudge
from tests.unit.run.test_references_of_cells import judge_of, subject

AT_OUTPUT = Evidence(path="output")


def verdict_on_graphs(monkeypatch: pytest.MonkeyPatch, verdict: Verdict) -> Verdict | None:
    """What the cell makes of this verdict on its graphs."""

    @contextlib.contextmanager
    def at_borders(*_: Any, code: bool) -> Iterator[tuple[None, Any]]:
        assert not code
        yield None, lambda: verdict

    monkeypatch.setattr(CellJudge, "at_borders", at_borders)
    start = subject()
    return judge_of(start)._verdict_on_graphs(start, DEFAULT_CONFIG)


def test_graphs_that_agree_are_not_lowered(monkeypatch: pytest.MonkeyPatch):
    verdict = verdict_on_graphs(monkeypatch, Verdict(VerdictKind.AGREE, "they agree"))
    assert verdict is not None
    assert verdict.kind is VerdictKind.AGREE
    assert "not lowered" in verdict.message


def test_graphs_of_which_nothing_can_be_said_are_not_lowered(monkeypatch: pytest.MonkeyPatch):
    open_verdict = Verdict(VerdictKind.INCONCLUSIVE, "it is ill-conditioned", AT_OUTPUT)
    assert verdict_on_graphs(monkeypatch, open_verdict) == open_verdict


@pytest.mark.parametrize(
    "verdict",
    [
        Verdict(VerdictKind.WRONG_RESULT, "it differs", AT_OUTPUT),
        Verdict(VerdictKind.INCONCLUSIVE, "a graph raises an exception"),
    ],
    ids=["wrong", "raises"],
)
def test_other_graphs_are_lowered(monkeypatch: pytest.MonkeyPatch, verdict: Verdict):
    assert verdict_on_graphs(monkeypatch, verdict) is None
