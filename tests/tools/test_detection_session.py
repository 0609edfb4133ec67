"""A session of detection runs: attempts, the journal, the summary and exit codes."""

import dataclasses
import json
import threading
import types

import pytest

from tools.fault_detection import __main__ as tool
from tools.fault_detection.detection import session
from tools.fault_detection.detection.journal import DetectionJournal
from tools.fault_detection.detection.result import Detection, DetectionResult
from tools.fault_detection.detection.session import Options, RunContext, TimeShares, detect, triage_all
from tools.fault_detection.detection.summary import clean_line, result_line, triage_line
from tools.fault_detection.detection.torch_defects import TorchDefects
from tools.fault_detection.detection.triage import TriageResult
from tools.fault_detection.fault import read_faults

FAULT, OTHER = read_faults()[:2]
DETECTION = Detection("wrong-result", "a.py", "inductor", ["forms/add"], "programs", "Inductor")
TRIAGE = TriageResult("Inductor", "Inductor, lowerings", ("Inductor",), 2, 0, fails=True, passes=True, seconds=3.0)
DETECTED = DetectionResult(FAULT, DETECTION, 12, 34.5, 1)
MISSED = DetectionResult(OTHER, None, 40, 130.0, 0)
CLEAN = DetectionResult(None, None, 7, 12.5, 2)


class ScriptedRunner:
    """Replaces DetectionRunner: an attempt takes the next of the scripted results of its fault."""

    def __init__(self, results):
        self.result = results[0]
        self.seconds = []
        self._results = iter(results)

    def attempt(self, seconds, grace):
        self.seconds.append(seconds)
        self.result = next(self._results)
        return self.result

    def triage(self):
        self.result = dataclasses.replace(self.result, triage=TRIAGE)
        return self.result


@pytest.fixture(autouse=True)
def stopped_clock(monkeypatch):
    """The session's clock stands at 0."""
    monkeypatch.setattr(session, "time", types.SimpleNamespace(monotonic=lambda: 0.0))


@pytest.fixture
def context(tmp_path, monkeypatch):
    """A context whose runners take scripted results by fault."""
    scripts = {FAULT.name: [DETECTED], OTHER.name: [MISSED, MISSED]}
    monkeypatch.setattr(session, "DetectionRunner", lambda fault, *_, **__: ScriptedRunner(scripts[fault.name]))
    return RunContext([], 0, tmp_path, TorchDefects(), threading.Event(), None)


def run_detection(context, options, journal):
    reported = []
    runners = detect([FAULT, OTHER], context, options, 100.0, journal, reported.append)
    return runners, reported


def test_missed_faults_get_a_second_attempt(context, tmp_path):
    journal = DetectionJournal(tmp_path / "journal")
    runners, reported = run_detection(context, Options(), journal)
    assert runners[0].seconds == [30.0]
    assert runners[1].seconds == [30.0, 100.0]
    assert reported == [DETECTED, MISSED]
    assert journal.results([FAULT, OTHER]) == [DETECTED, MISSED]


def test_limit_for_each_fault_allows_one_attempt(context):
    runners, reported = run_detection(context, Options(limit=5.0), DetectionJournal(None))
    assert [runner.seconds for runner in runners] == [[5.0], [5.0]]
    assert reported == [DETECTED, MISSED]


def test_stopped_session_records_no_results(context, tmp_path):
    context.stop.set()
    journal = DetectionJournal(tmp_path / "journal")
    _, reported = run_detection(context, Options(limit=5.0), journal)
    assert reported == []
    assert journal.results([FAULT, OTHER]) == []


def test_only_detections_are_triaged(tmp_path):
    journal, reported = DetectionJournal(tmp_path / "journal"), []
    triage_all([ScriptedRunner([DETECTED]), ScriptedRunner([MISSED])], 1, journal, reported.append)
    triaged = dataclasses.replace(DETECTED, triage=TRIAGE)
    assert reported == [triaged]
    assert journal.results([FAULT, OTHER]) == [triaged]


def test_remaining_time_is_shared_evenly():
    shares = TimeShares(60, waiting=3, jobs=1)
    assert [shares.next_limit() for _ in range(3)] == [20, 30, 60]
    assert TimeShares(-1, waiting=1, jobs=1).next_limit() == 0


def test_each_result_has_its_line():
    assert clean_line(CLEAN) == "no fault: no false alarm, 2 findings of torch's own defects, 7 cells, 12 s"
    assert result_line(DETECTED) == f"{FAULT.name:44} found  wrong-result from a.py (programs), 12 cells, 34 s"
    error = dataclasses.replace(MISSED, error="it broke", spared=3)
    assert result_line(error) == f"{OTHER.name:44} missed, 40 + 3 cells, 130 s  [it broke]"
    triage = dataclasses.replace(TRIAGE, stage="", passes=False)
    assert result_line(dataclasses.replace(DETECTED, triage=triage)).splitlines()[1].strip() == (
        "Inductor, lowerings: 2 statements, 0 rewrites, 3 s; stage unknown, not Inductor; "
        "script fails: True, passes without: False"
    )
    assert triage_line([TRIAGE, triage]).startswith("stage right in 1 of 2; 2 reduced, to 2.0 statements on the median")


@pytest.mark.parametrize(
    ("clean", "detected", "expected"),
    [(CLEAN, True, 0), (CLEAN, False, 1), (dataclasses.replace(CLEAN, detection=DETECTION), True, 1)],
)
def test_exit_code_depends_on_share_and_false_alarms(monkeypatch, capsys, context, clean, detected, expected):
    result = DETECTED if detected else dataclasses.replace(MISSED, fault=FAULT)
    monkeypatch.setattr(tool, "prepare", lambda options, folder: context)
    monkeypatch.setattr(tool, "run_clean", lambda context, *_: (context, clean, False))
    monkeypatch.setattr(tool, "detect", lambda *_: [ScriptedRunner([result])])
    assert tool.main(["--only", FAULT.name, "--seeds", "handwritten/arithmetic", "--format", "json"]) == expected
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert lines[0]["fault"] == "none"
    assert (lines[-1]["faults"], lines[-1]["found"]) == (1, int(detected))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--only", "nonesuch"], "no such fault: nonesuch; there are "),
        (["--seeds", "nonesuch"], "no shipped seed that shows no known issue begins with 'nonesuch'"),
        (["--faults", "nonesuch"], "no planted fault in nonesuch"),
    ],
)
def test_bad_usage_is_one_line(capsys, arguments, message):
    assert tool.main(arguments) == 2
    errors = capsys.readouterr().err.splitlines()
    assert errors[-1].startswith(message)
