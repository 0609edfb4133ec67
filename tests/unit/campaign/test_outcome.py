"""Outcomes of items: the JSON in stores."""

from __future__ import annotations

import json

import pytest

from eqfuzz.campaign.executors.item_runner import ItemResult
from eqfuzz.campaign.store.outcome import Outcome
from eqfuzz.campaign.store.records import ItemOptions

STORED = {
    "state": "done",
    "reason": "",
    "sites": 9,
    "variants": 2,
    "cells": 3,
    "erased": 1,
    "only_graphs": 2,
    "verdicts": {"agree": 2, "flaky": 1},
    "seconds": 4.5,
    "cpu_seconds": 6.25,
    "triage_seconds": 1.5,
    "peak_mb": 700,
    "features": {"0": [1, 2], "1": [3]},
    "rules": {"1": ["forms/a"], "2": ["layout/b"]},
    "texts": {"1": "ab12"},
    "lines": {"ir.py": "6"},
    "buckets": ["b1"],
    "findings": ["f1"],
    "shown": [["cpu", "inductor", "wrong-result", "output[0]"]],
}
"""As stores have it since the first version."""


def test_outcome_of_an_earlier_version_is_read_and_written_unchanged() -> None:
    outcome = Outcome.model_validate(STORED)
    assert outcome.digests == {1: "ab12"}
    assert outcome.symptoms == (("cpu", "inductor", "wrong-result", "output[0]"),)
    assert json.loads(json.dumps(outcome.to_json())) == STORED


def test_details_are_stored_for_errors_only() -> None:
    assert "details" not in Outcome(state="done").to_json()
    assert Outcome(state="error", reason="x", details="Traceback").to_json()["details"] == "Traceback"


def test_unknown_state_is_refused() -> None:
    with pytest.raises(ValueError, match="state"):
        Outcome.model_validate({**STORED, "state": "half"})


def test_known_features_and_lines_are_removed_with_texts_that_reach_nothing_else() -> None:
    result = ItemResult(Outcome.model_validate(STORED), texts={1: "text", 2: "other"})
    new = result.without_known({1, 3}, {"ir.py": 2})
    assert new.outcome.features == {0: (2,)}
    assert new.outcome.lines == {"ir.py": "4"}
    assert new.texts == {}
    assert new.outcome.cells == 3


def test_options_of_an_item_are_read_from_json() -> None:
    options = ItemOptions(7, ("shapes",), ("inductor",), True, (("cpu", "x"),))
    stored = {"seed": 7, "favoured": ["shapes"], "configs": ["inductor"], "traced": True, "met": [["cpu", "x"]]}
    assert ItemOptions.from_json(stored) == options
    assert ItemOptions.from_json({"seed": 7}) == ItemOptions(seed=7)
