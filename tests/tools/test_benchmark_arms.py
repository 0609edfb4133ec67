"""The comparison of campaigns with and without their parts."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from benchmarks.arms import ARMS, Trial, a12, main, p_value, settings
from benchmarks.planted import PLANTED, REACHED, TRIGGERED, detected, noted, write_preload
from eqfuzz.campaign.configuration import from_tables


def trial(arm: str, seed: int, faults: list[str]) -> Trial:
    return Trial(arm, seed, 480, faults, faults, faults, 90, 300, 500.0, 50.0, 3, "2.15.0", 400.0)


def test_settings_of_all_arms_are_valid(tmp_path: Path):
    for arm in ARMS:
        configuration = from_tables(tomllib.loads(settings(arm, 3, tmp_path / "a b.py")), "here")
        assert configuration.seed == 3
        assert configuration.compiling.preload == tmp_path / "a b.py"
    assert configuration.compiling.tiers == ("code",)


def test_statistics():
    assert a12([3, 4], [1, 2]) == 1
    assert a12([1, 2], [1, 2]) == 0.5
    assert p_value([4, 5, 6], [1, 2, 3]) == pytest.approx(2 / 20)
    assert p_value([1, 1], [1, 1]) == 1


def test_trials_of_the_journal_are_not_run_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    journal = tmp_path / "trials.jsonl"
    trials = [trial("default", 0, ["a", "b"]), trial("without tiers", 0, ["a"])]
    journal.write_text("".join(json.dumps(vars(one)) + "\n" for one in trials))
    assert main(["--journal", str(journal), "--seeds", "0", "--arms", "default", "without tiers"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    without = next(row for row in rows if "tiers" in row)
    assert "2.00" in without
    assert "1.00" in without


def test_faults_are_named_by_their_place():
    celu = "values · decompositions and partitioner, decomposition: aten.celu.default"
    assert detected([celu, "values · Dynamo, guard on strides"]) == {"celu_of_a_factor", "guard_of_strides"}


@pytest.mark.slow
def test_faults_note_what_happens(tmp_path: Path):
    write_preload(tmp_path / "preload.py", tmp_path / "marks")
    script = f"""
import runpy, torch
runpy.run_path({str(tmp_path / "preload.py")!r}, run_name="eqfuzz_preload")
compiled = torch.compile(lambda x, alpha: torch.nn.functional.celu(x, alpha), backend="aot_eager_decomp_partition")
compiled(torch.ones(3), 1.0)
for note in {[REACHED, TRIGGERED]!r}:
    print([file.stem for file in __import__("pathlib").Path({str(tmp_path / "marks")!r}).glob("celu*." + note)])
compiled(torch.ones(3), 0.5)
"""
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ended.stdout.splitlines() == ["['celu_of_a_factor']", "[]"]
    assert "celu_of_a_factor" in noted(tmp_path / "marks", TRIGGERED)
    assert noted(tmp_path / "marks", REACHED) <= set(PLANTED)
