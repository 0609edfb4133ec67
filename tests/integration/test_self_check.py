"""``eqfuzz self-check``: the quick check, and the tables on next to nothing."""

import json

import pytest

from eqfuzz.campaign.measuring import COMPILED, Pairs
from eqfuzz.campaign.self_check import quick_check
from eqfuzz.campaign.self_check_events import SelfCheckStep
from eqfuzz.judge.verdict import Kind, Verdict
from eqfuzz.report.self_checking import precision_table, recall_table
from tests.commandline import eqfuzz, share_header


@pytest.mark.slow
def test_the_quick_check_passes(tmp_path):
    share_header(tmp_path / "kernels")
    done = eqfuzz("self-check", "--format", "json", "--out", tmp_path / "kernels")
    assert done.returncode == 0, done.stderr
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert [event["passed"] for event in events] == [True] * 4
    assert events[-1]["event"] == "summary" and events[-1]["failed"] == []


@pytest.mark.slow
@pytest.mark.long
def test_a_check_without_the_fault_it_expects_fails(tmp_path, monkeypatch):
    from eqfuzz.campaign import self_check

    monkeypatch.setattr(self_check, "FAULTY", self_check.DEFAULT_CONFIG)
    share_header(tmp_path)
    told = []
    summary = quick_check(told.append, tmp_path)
    assert not summary.passed and summary.failed == ["a planted compiler fault is found"]
    assert [event.passed for event in told if isinstance(event, SelfCheckStep)] == [True, False, True]


def test_pairs_count_what_was_said():
    pairs = Pairs(COMPILED)
    kinds = (Kind.AGREE, Kind.AGREE, Kind.INCONCLUSIVE, Kind.WRONG_RESULT, Kind.UNSUPPORTED, Kind.INVALID_SEED)
    pairs.add("a.py", [Verdict(kind, "said") for kind in kinds])
    assert pairs.count == 4 and pairs.claimed == ["a.py: wrong-result: said"] and pairs.doubts == {"a.py": 1}


def test_tables_have_a_row_for_each_count():
    row = {"fault": "zeroed", "dtype": "float32", "group": "outputs", "planted": 4, "seen": {"eqfuzz": 4}, "missed": {}}
    assert recall_table({"rows": [row, {**row, "dtype": "float64"}]}).row_count == 2
    pairs = Pairs(COMPILED)
    pairs.add("a.py", [Verdict(Kind.AGREE, "said")])
    assert precision_table([pairs.to_json()]).row_count == 1
