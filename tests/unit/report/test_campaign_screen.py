"""The end of a campaign on the console."""

from __future__ import annotations

import dataclasses
import io

import pytest
from rich.console import Console

from eqfuzz.campaign.metrics import CampaignMetrics
from eqfuzz.events.campaign import CampaignSummary, ItemEnded, ItemStarted
from eqfuzz.events.run import InvalidReason
from eqfuzz.oracle.compare.verdict import VerdictKind
from eqfuzz.report.campaign.screen import CampaignReport, CampaignScreen

from . import sample_events as sample

REASONS = [
    InvalidReason(reason=sample.AUTOGRAD, count=6, seeds=["a.py"], place="a.py"),
    InvalidReason(reason="no inputs", count=1, seeds=["b.py"], place="b.py:1"),
]


def closed(**changed: object) -> str:
    statistics = CampaignMetrics()
    fields: dict[str, object] = {
        "campaign": "night",
        "seed": 0,
        "why": "cells",
        "interrupted": False,
        "seconds": 1.0,
        "total_seconds": 2.0,
        "errors": [],
        "figures": statistics.figures(),
        "yields": {},
        "findings": 0,
        "buckets": 0,
        "known": 1,
        "new_here": [],
    }
    stream = io.StringIO()
    with CampaignReport(Console(file=stream, width=100), CampaignScreen(statistics, "night", 1), quiet=True) as report:
        report.handle(CampaignSummary(**{**fields, **changed}))
    return stream.getvalue()


def test_invalid_programs_are_counted_by_reason() -> None:
    text = closed(invalid_reasons=REASONS)
    assert "\n7 invalid programs in this invocation (--format json names each):\n" in text
    assert f"\n  6 × {sample.AUTOGRAD} (a.py, …)\n  1 × no inputs (b.py:1)\n" in text
    assert text.index("invalid programs") < text.index("No new findings.")


def test_new_findings_are_counted_by_severity_most_severe_first() -> None:
    statistics = CampaignMetrics()
    for number, kind in enumerate(
        (VerdictKind.WRONG_METADATA, VerdictKind.HANG, VerdictKind.WRONG_RESULT, VerdictKind.WRONG_METADATA)
    ):
        statistics.count_event(sample.finding_event(dataclasses.replace(sample.finding(kind=kind), id=str(number))))
    known_finding = dataclasses.replace(
        sample.finding_event(sample.finding(kind=VerdictKind.WRONG_GRADIENT)), issue="u"
    )
    statistics.count_event(known_finding)
    figures = statistics.figures()
    assert list(figures["severities"].items()) == [("wrong-values", 1), ("crash", 1), ("metadata", 2)]
    text = closed(figures=figures, findings=4, buckets=2)
    assert "4 findings in 2 buckets (wrong values: 1, crashes: 1, metadata: 2) in" in text


def test_cells_of_a_seed_under_way_are_shown() -> None:
    statistics = CampaignMetrics()
    screen = CampaignScreen(statistics, "night", 1)
    screen.stage = ""
    statistics.count_event(ItemStarted(index=7, seed="training.py", arms={}, attempt=1))
    assert "\u2502   training.py " in display_of(screen)
    cell = sample.cell(7, 0)
    statistics.count_event(dataclasses.replace(cell, config=""))  # an eager check is no cell
    assert "\u2502   training.py " in display_of(screen)
    for _ in range(2):
        statistics.count_event(cell)
    assert "2 cells of training.py" in display_of(screen)
    ended = ItemEnded(index=7, seed="training.py", state="done", reason="", cells=2, cpu_seconds=1.0)
    statistics.count_event(ended)
    assert "training.py" not in display_of(screen)


def display_of(screen: CampaignScreen) -> str:
    stream = io.StringIO()
    Console(file=stream, width=100).print(screen.display())
    return stream.getvalue()


@pytest.mark.parametrize("reasons", [[], REASONS[1:]])
def test_reasons_are_omitted_without_invalid_programs(reasons: list[InvalidReason]) -> None:
    assert ("1 invalid program in this invocation" in closed(invalid_reasons=reasons)) == bool(reasons)
