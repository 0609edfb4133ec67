"""The end of a campaign on the console."""

from __future__ import annotations

import dataclasses
import io

import pytest
from rich.console import Console

from eqfuzz.campaign.metrics import CampaignMetrics
from eqfuzz.events.campaign import CampaignSummary, ItemEnded, ItemStarted
from eqfuzz.events.run import InvalidReason, SeedRewritten
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


def test_progress_of_a_seed_under_way_is_on_the_screen() -> None:
    statistics = CampaignMetrics()
    screen = CampaignScreen(statistics, "night", 1)
    screen.stage = ""
    statistics.count_event(ItemStarted(index=7, seed="training.py", arms={}, attempt=1))
    assert "preparing training.py" in display_of(screen)
    statistics.count_event(SeedRewritten(index=7, seed="training.py", sites=9, variants=4, cells=12))
    assert "0/12 cells of training.py" in display_of(screen)
    cell = sample.cell(7, 0)
    for event in (cell, dataclasses.replace(cell, config=""), sample.cell(8, 0), cell):  # an eager check is no cell
        statistics.count_event(event)
    assert "2/12 cells of training.py" in display_of(screen)
    assert statistics.figures()["running"] == ["training.py"]
    statistics.count_event(ItemEnded(index=7, seed="training.py", state="done", reason="", cells=2, cpu_seconds=1.0))
    assert "training.py" not in display_of(screen)


def display_of(screen: CampaignScreen) -> str:
    stream = io.StringIO()
    Console(file=stream, width=100).print(screen.display())
    return stream.getvalue()


@pytest.mark.parametrize("reasons", [[], REASONS[1:]])
def test_reasons_are_omitted_without_invalid_programs(reasons: list[InvalidReason]) -> None:
    assert ("1 invalid program in this invocation" in closed(invalid_reasons=reasons)) == bool(reasons)
