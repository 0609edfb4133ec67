"""The journal of detection runs gives complete results back."""

from __future__ import annotations

import dataclasses

from eqfuzz.program.release import Release, this_release
from tools.fault_detection.detection.journal import DetectionJournal
from tools.fault_detection.detection.result import Detection, DetectionResult
from tools.fault_detection.detection.triage import TriageResult
from tools.fault_detection.fault import read_faults


def test_last_complete_result_of_each_fault_is_read(tmp_path):
    one, two, three = read_faults()[:3]
    detection = Detection("wrong-result", "a.py", "inductor", ["forms/add"], "programs", "Inductor")
    triage = TriageResult("Inductor", "Inductor, lowerings", ("Inductor",), 2, 0, fails=True, passes=True, seconds=3.0)
    detected = DetectionResult(one, detection, 12, 34.5, 1, triage=triage)
    missed = DetectionResult(two, None, 40, 130.0, 0, "out of time")
    journal = DetectionJournal(tmp_path / "detections.jsonl")
    assert journal.results([one]) == []
    for result in (dataclasses.replace(detected, cells=1), detected, missed, DetectionResult(three, None, 1, 1.0, 0)):
        journal.add(result)
    with (tmp_path / "detections.jsonl").open("a") as file:
        file.write('\n{"fault": "cut o')
    assert journal.results([one, two]) == [detected, missed]
    journal.add(dataclasses.replace(missed, cells=41))
    assert journal.results([one, two]) == [detected, dataclasses.replace(missed, cells=41)]


def test_incomplete_runs_are_repeated_and_their_time_counts(tmp_path):
    one, two = read_faults()[:2]
    journal = DetectionJournal(tmp_path / "detections.jsonl")
    journal.add(DetectionResult(one, None, 12, 30.0, 0), is_complete=False)
    journal.add(DetectionResult(two, None, 12, 20.0, 0), is_complete=False)
    journal.add(DetectionResult(two, None, 30, 70.0, 0))
    assert [result.name for result in journal.results([one, two])] == [two.name]
    assert journal.seconds([one, two]) == 100.0
    assert journal.seconds([one]) == 30.0


def test_results_of_other_releases_are_ignored(tmp_path, monkeypatch):
    one = read_faults()[0]
    journal = DetectionJournal(tmp_path / "detections.jsonl")
    journal.add(DetectionResult(one, None, 12, 30.0, 0))
    monkeypatch.setattr("tools.fault_detection.detection.journal.this_release", lambda: Release("2.99.0", "cpu"))
    assert journal.results([one]) == []
    assert journal.seconds([one]) == 0


def test_without_a_file_nothing_is_kept():
    journal = DetectionJournal(None)
    journal.add(DetectionResult(read_faults()[0], None, 1, 1.0, 0))
    assert journal.results(read_faults()) == []


def test_journal_of_an_older_version_is_read(tmp_path):
    fault = read_faults()[0]
    line = (
        '{"fault": "NAME", "kind": "", "reached_by": "plain", "issue": "", "found": true, '
        '"catch": {"verdict": "wrong-result", "seed": "a.py", "config": "eager", "rules": [], "phase": "guards", '
        '"stage": "Dynamo"}, "cells": 3, "seconds": 1.5, "passed_over": 0, "error": "", '
        '"through": true, "torch": "RELEASE"}'
    )
    file = tmp_path / "detections.jsonl"
    file.write_text("\n" + line.replace("NAME", fault.name).replace("RELEASE", str(this_release())))
    detection = Detection("wrong-result", "a.py", "eager", [], "guards", "Dynamo")
    assert DetectionJournal(file).results([fault]) == [DetectionResult(fault, detection, 3, 1.5, 0)]
