"""``eqfuzz self-check``: the quick check, and the tables on next to nothing."""

import dataclasses
import json

import pytest

from eqfuzz.commands.calibrate import COMPILED, Pairs
from eqfuzz.events.self_check import SelfCheckStep
from eqfuzz.mutate.self_check import quick_check
from eqfuzz.oracle.compare.verdict import Verdict, VerdictKind
from eqfuzz.report.verbs.self_check import false_alarms_table, precision_table, recall_table
from tests.commandline import eqfuzz, write


@pytest.mark.slow
def test_quick_check_passes(tmp_path):
    done = eqfuzz("self-check", "--format", "json", "--out", tmp_path / "kernels")
    assert done.returncode == 0, done.stderr
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert [event["passed"] for event in events if event["event"] != "progress"] == [True] * 4
    assert events[-1]["event"] == "summary"
    assert events[-1]["failed"] == []


@pytest.mark.slow
@pytest.mark.long
def test_check_fails_without_expected_fault(tmp_path, monkeypatch):
    from eqfuzz.mutate import self_check

    monkeypatch.setattr(self_check, "FAULTY", self_check.DEFAULT_CONFIG)
    events = []
    summary = quick_check(events.append, tmp_path)
    assert not summary.passed
    assert summary.failed == ["a planted compiler fault is found"]
    assert [event.passed for event in events if isinstance(event, SelfCheckStep)] == [True, False, True]


@pytest.mark.slow
def test_run_ends_if_oracle_fails_check(tmp_path, monkeypatch):
    from eqfuzz.mutate import run as mutate
    from eqfuzz.mutate import seed_runner
    from eqfuzz.mutate.settings import Settings

    steps = [
        SelfCheckStep(step="clean programs agree", passed=True, detail="", seconds=0.1),
        SelfCheckStep(step="a fault is found", passed=False, detail="no", seconds=0.1),
    ]
    monkeypatch.setattr(seed_runner, "quick_steps", lambda pool: iter(steps))
    monkeypatch.setattr(mutate, "MANY_SEEDS", 1)
    write(tmp_path, "seed.py", "def program(x): return x\ndef inputs(rng): yield rng.normal(2)\n")
    events = []
    settings = Settings(paths=(tmp_path / "seed.py",), out=tmp_path / "out")
    summary = mutate.run(settings, events.append)
    assert summary.errors == ["the self-check fails, so results would mean nothing: a fault is found: no"]
    assert [event.name for event in events if event.name in ("start", "step", "summary")] == [
        "start",
        "step",
        "step",
        "summary",
    ]
    events.clear()
    monkeypatch.setattr(mutate, "MANY_SEEDS", 2)
    mutate.run(dataclasses.replace(settings, dry_run=True), events.append)
    assert "step" not in [event.name for event in events]


def test_pairs_count_verdicts():
    pairs = Pairs(COMPILED)
    kinds = (
        VerdictKind.AGREE,
        VerdictKind.AGREE,
        VerdictKind.INCONCLUSIVE,
        VerdictKind.WRONG_RESULT,
        VerdictKind.UNSUPPORTED,
        VerdictKind.INVALID_SEED,
    )
    pairs.add("a.py", [Verdict(kind, "said") for kind in kinds])
    assert pairs.count == 4
    assert pairs.called_wrong == ["a.py: wrong-result: said"]
    assert pairs.inconclusive == {"a.py": 1}


def test_tables_have_row_per_count():
    row = {
        "fault": "zeroed",
        "dtype": "float32",
        "group": "outputs",
        "planted": 4,
        "detected": {"eqfuzz": 4},
        "missed": {},
    }
    assert recall_table({"rows": [row, {**row, "dtype": "float64"}]}).row_count == 2
    false_alarms = {"float32": {"assert_close": 3}}
    assert false_alarms_table({"programs": {"float32": 9, "float16": 8}, "false_alarms": false_alarms}).row_count == 2
    pairs = Pairs(COMPILED)
    pairs.add("a.py", [Verdict(VerdictKind.AGREE, "said")])
    assert precision_table([pairs.to_json()]).row_count == 1
