"""What an untrusted child may report."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eqfuzz.program.formats import recognise
from eqfuzz.run.configs.named import DEFAULT_CONFIG
from eqfuzz.run.messages.finding_jobs import AccuracyJob, AuditJob, BisectJob, DescribeJob
from eqfuzz.run.messages.job import ChildEvent, Job
from eqfuzz.run.messages.seed_jobs import ExplainJob, RunJob
from eqfuzz.run.protocol import BadMessage
from eqfuzz.run.sandbox.event_validation import EVENTS, EVENTS_OF_CELL, EventValidator

SOURCE = "import torch\ndef program(x): return x\ndef inputs(rng): yield rng.normal(3)\n"
PROGRAM = recognise(SOURCE, "seed.py")
JOB = RunJob(program=PROGRAM, configs=(DEFAULT_CONFIG,), variants=2)
VERDICT = {"kind": "agree", "message": "eager and compiled agree", "evidence": None}
RECORD = {"source": "x = 1", "derivation": [], "exactness": "bitwise"}
EVIDENCE = {
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
WRONG = {"kind": "wrong-result", "message": "it differs", "evidence": EVIDENCE}


def rewritten(count: int = 2) -> dict[str, Any]:
    return {"event": "rewritten", "sites": 3, "cells": 3, "variants": [RECORD] * count, "listed_sites": []}


def cell(**changed: Any) -> dict[str, Any]:
    fields = {"variant": 0, "device": "cpu", "config": "inductor", "verdict": VERDICT, "seconds": 1.5}
    return {"event": "cell", **fields, "compiled": {"graphs": 1}, "erased": False, "features": [3], **changed}


def stage(**changed: Any) -> dict[str, Any]:
    return {"event": "stage", "stage": "load", "seconds": 20, "variant": 0, **changed}


class Reader:
    """Reads lines of an untrusted child as the parent does."""

    def __init__(self, job: Job[Any] = JOB) -> None:
        self._decoder = job.decoder()
        self._validator = EventValidator(job)

    def read(self, event: dict[str, Any]) -> ChildEvent:
        decoded = self._decoder.decode(json.dumps(event).encode())
        self._validator.check(decoded)
        return decoded


def test_events_about_the_job_are_accepted() -> None:
    reader = Reader()
    for event in (
        stage(),
        rewritten(),
        cell(),
        cell(variant=2, verdict=WRONG),
        cell(variant=1, device="", config=""),
        stage(stage="compile", seconds=105.0, variant=2, device="cpu", config="inductor"),
        {"event": "timings", "seconds": {"load": 0.1}, "peak_mb": 300, "kernels": {"built": 1}},
        {"event": "invalid", "reason": "raises in eager", "line": None},
        {"event": "lines", "files": {"torch/_dynamo/x.py": "ff03"}},
    ):
        assert reader.read(event).message_name == event["event"]


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (cell(variant=3), "a variant that the job does not have"),
        (cell(config="other"), "a cell that the job does not have"),
        (cell(device="cuda"), "a cell that the job does not have"),
        (cell(variant=-1), "a malformed cell event"),
        (cell(seconds=float("inf")), "a malformed cell event"),
        (cell(seconds="1"), "a malformed cell event"),
        (cell(more=1), "a malformed cell event"),
        (cell(verdict={**VERDICT, "kind": "splendid"}), "a malformed cell event: verdict"),
        (cell(verdict={**VERDICT, "more": 1}), "a malformed cell event: verdict"),
        (cell(verdict={**VERDICT, "cause": "a\nb"}), "the cause is not one line"),
        (cell(verdict={**WRONG, "evidence": {**EVIDENCE, "path": "x" * 2000}}), "the place is not one line"),
        (cell(verdict={**WRONG, "evidence": {**EVIDENCE, "elements": -1}}), "a count is negative"),
        (cell(verdict={**VERDICT, "message": "\ud800"}), "not an event"),
        (stage(seconds=90_000.0), "a stage of more than"),
        (stage(seconds=float("nan")), "a malformed stage event"),
        (stage(stage="a\nb"), "a malformed stage event"),
        ({"event": "kernels"}, "no event of this job: 'kernels'"),
        ({"event": "described", "globals": []}, "no event of this job: 'described'"),
        ({"event": "exit", "reason": "done"}, "no event of this job: 'exit'"),
        ({"event": "restart", "detail": ""}, "no event of this job: 'restart'"),
    ],
)
def test_other_events_are_refused(event: dict[str, Any], words: str) -> None:
    reader = Reader()
    reader.read(rewritten())
    with pytest.raises(BadMessage, match=words):
        reader.read(event)


def test_descriptions_are_made_of_identifiers() -> None:
    fields = {"calls": "", "state": None, "packs": True, "changes": [], "globals": ["x; import os"], "functions": []}
    with pytest.raises(BadMessage, match=r"a malformed described event: globals\.0"):
        Reader(DescribeJob(program=PROGRAM)).read({"event": "described", **fields})


def test_cells_and_variants_are_reported_once() -> None:
    reader = Reader()
    reader.read(rewritten())
    reader.read(cell())
    with pytest.raises(BadMessage, match="a second cell event"):
        reader.read(cell())
    with pytest.raises(BadMessage, match="a second rewritten event"):
        reader.read(rewritten())


def test_there_are_no_more_variants_than_requested() -> None:
    with pytest.raises(BadMessage, match="more variants"):
        Reader().read(rewritten(3))


def test_the_number_of_events_is_bounded() -> None:
    reader = Reader()
    for _ in range(EVENTS + EVENTS_OF_CELL * 3):
        reader.read(stage())
    with pytest.raises(BadMessage, match="events"):
        reader.read(stage())


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)
FIELDS = sorted({*cell(), *rewritten(), *stage(), "reason", "line", "result", "results", "audit", "state", "problem"})
JOBS = (JOB, ExplainJob(program=PROGRAM, rule="a"), *(k(program=PROGRAM) for k in (AuditJob, BisectJob, AccuracyJob)))


@settings(deadline=None, max_examples=200)
@given(
    job=st.sampled_from(JOBS),
    name=st.sampled_from(["cell", "stage", "rewritten", "invalid", "audited", "explained", "bisected", "same"]),
    fields=st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=8),
)
def test_any_json_is_accepted_or_refused(job: Job[Any], name: str, fields: dict[str, Any]) -> None:
    try:
        Reader(job).read({**fields, "event": name})
    except BadMessage as refused:
        assert "\n" not in str(refused)
