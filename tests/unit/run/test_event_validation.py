"""What a case that is not trusted may say."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eqfuzz.run.protocol import BadEvent
from eqfuzz.run.sandbox.event_validation import EVENTS, EVENTS_OF_CELL, EventValidator

CASE = {"devices": ["cpu"], "configs": [{"name": "inductor"}], "variants": 2, "compile_seconds": 90.0}
VERDICT = {"kind": "agree", "message": "eager and compiled agree", "evidence": None}
TOLD = {"source": "x = 1", "derivation": [], "exactness": "bitwise"}


def rewritten(count: int = 2) -> dict[str, Any]:
    return {"event": "rewritten", "sites": 3, "cells": 3, "variants": [TOLD] * count, "found": []}


def cell(**changed: Any) -> dict[str, Any]:
    told = {"variant": 0, "device": "cpu", "config": "inductor", "verdict": VERDICT, "seconds": 1.5}
    return {"event": "cell", **told, "compiled": {"graphs": 1}, "erased": False, "features": [3], **changed}


def stage(**changed: Any) -> dict[str, Any]:
    return {"event": "stage", "stage": "load", "seconds": 20, "variant": 0, **changed}


def test_what_a_case_says_passes() -> None:
    screening = EventValidator(CASE)
    evidence = {
        "call": 0,
        "path": "output[0]",
        "index": [1, 2],
        "eager": 1.0,
        "compiled": float("nan"),
        "reference": "nan",
        "allowed": 1e-6,
        "wrong_elements": 1,
        "elements": 9,
        "unstable_elements": 0,
        "frames": [],
    }
    for event in (
        stage(),
        rewritten(),
        cell(),
        cell(variant=2, verdict={"kind": "wrong-result", "message": "it differs", "evidence": evidence}),
        cell(variant=1, device="", config=""),
        stage(stage="compile", seconds=105.0, variant=2, device="cpu", config="inductor"),
        {"event": "timings", "seconds": {"load": 0.1}, "peak_mb": 300, "kernels": {"built": 1}},
        {"event": "invalid", "reason": "raises in eager", "line": None},
        {"event": "lines", "files": {"torch/_dynamo/x.py": "ff03"}},
    ):
        screening.check(event)


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (cell(variant=3), "a variant that the case does not have"),
        (cell(config="other"), "a cell that the case does not have"),
        (cell(device="cuda"), "a cell that the case does not have"),
        (cell(variant=-1), "a false cell event"),
        (cell(seconds=float("inf")), "a false cell event"),
        (cell(seconds="1"), "a false cell event"),
        (cell(more=1), "a false cell event"),
        (cell(verdict={**VERDICT, "kind": "splendid"}), "no kind of verdict"),
        (cell(verdict={**VERDICT, "message": "\ud800"}), "a false cell event"),
        (stage(seconds=90_000.0), "a stage of more than"),
        (stage(seconds=float("nan")), "a stage of more than"),
        (stage(stage="a\nb"), "a false stage event"),
        ({"event": "kernels"}, "no event of a case"),
        ({"event": "described", "globals": ["x; import os"]}, "a false described event"),
    ],
)
def test_other_things_are_refused(event: dict[str, Any], words: str) -> None:
    screening = EventValidator(CASE)
    screening.check(rewritten())
    with pytest.raises(BadEvent, match=words):
        screening.check(event)


def test_nothing_is_told_twice() -> None:
    screening = EventValidator(CASE)
    screening.check(rewritten())
    screening.check(cell())
    with pytest.raises(BadEvent, match="a cell told twice"):
        screening.check(cell())
    with pytest.raises(BadEvent, match="told twice how it is rewritten"):
        screening.check(rewritten())


def test_there_are_no_more_variants_than_were_asked_for() -> None:
    with pytest.raises(BadEvent, match="more variants"):
        EventValidator(CASE).check(rewritten(3))


def test_the_number_of_events_is_bounded() -> None:
    screening = EventValidator(CASE)
    for _ in range(EVENTS + EVENTS_OF_CELL * 3):
        screening.check(stage())
    with pytest.raises(BadEvent, match="events"):
        screening.check(stage())


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)
FIELDS = sorted({*cell(), *rewritten(), *stage(), "reason", "line", "found", "audit", "state", "problem"})


@settings(deadline=None, max_examples=200)
@given(
    name=st.sampled_from(["cell", "stage", "rewritten", "invalid", "audited", "described", "bisected", "same"]),
    fields=st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=8),
)
def test_whatever_comes_it_passes_or_is_refused(name: str, fields: dict[str, Any]) -> None:
    try:
        EventValidator(CASE).check({**fields, "event": name})
    except BadEvent as refused:
        assert "\n" not in str(refused)
