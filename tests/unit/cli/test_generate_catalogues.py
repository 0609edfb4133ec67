"""``eqfuzz generate opinfo`` on the command line."""

import json
from pathlib import Path

import pytest

from eqfuzz.program.formats import read_program
from eqfuzz.program.load import Loaded
from tests.unit.cli.in_process import call


@pytest.mark.parametrize("option", ["--time=1m", "--timeout=1m", "--config=inductor", "--no-known-issues"])
def test_options_about_comparing_go_with_run(option: str, tmp_path: Path):
    result = call("generate", "opinfo", option, "--out", str(tmp_path))
    assert result.exit_code == 2
    assert result.stderr == f"eqfuzz: {option.split('=')[0]}: it is about comparing, so it goes with --run\n"


def test_several_configurations_are_refused(tmp_path: Path):
    result = call("generate", "opinfo", "--run", "--config", "inductor,eager", "--out", str(tmp_path))
    assert result.exit_code == 2
    assert "--config: a sweep has one configuration" in result.stderr


def test_one_refused_call_of_each_exception_is_all_there_is(tmp_path: Path):
    result = call("generate", "refused", "--most", "2", "--out", str(tmp_path))
    assert result.exit_code == 2
    assert result.stderr.startswith("eqfuzz: --most: ")


def test_refused_calls_have_no_dtypes(tmp_path: Path):
    result = call("generate", "refused", "--dtypes", "int8", "--out", str(tmp_path))
    assert result.exit_code == 2
    assert result.stderr == "eqfuzz: --dtypes: a refused call has the first dtype that the operator supports\n"


@pytest.mark.slow
def test_what_compiled_code_accepts_is_a_finding(tmp_path: Path):
    arguments = ["generate", "refused", "--operators", "repeat_interleave", "--jobs", "1", "--run"]
    result = call(*arguments, "--no-known-issues", "--out", str(tmp_path))
    assert result.exit_code in (0, 1), result.stderr
    counts = json.loads((tmp_path / "matrix.json").read_text())["operators"]["repeat_interleave"]["refused"]
    assert set(counts) <= {"agree", "new"}
    assert counts["agree"] > 3


@pytest.mark.slow
def test_programs_are_seeds_and_every_sample_is_accounted_for(tmp_path: Path):
    arguments = ["generate", "opinfo", "--operators", "gather,t", "--dtypes", "int8", "--jobs", "1"]
    result = call(*arguments, "--out", str(tmp_path), "--format", "json")
    assert result.exit_code == 0, result.stderr
    events = [json.loads(line) for line in result.stdout.splitlines()]
    summary = events[-1]
    assert [event["event"] for event in events] == ["catalogue", "operator", "operator", "summary"]
    left_out = sum(sum(by_operator.values()) for by_operator in summary["left_out"].values())
    assert summary["samples"] == summary["results"] + summary["repeats"] + left_out
    (file,) = (tmp_path / "programs").rglob("*.py")
    loaded = Loaded(read_program(file, file.name))
    assert len(loaded.instance()(*loaded.calls(0)[0].args)) == summary["results"]


@pytest.mark.slow
def test_sweep_ends_in_a_matrix_and_is_resumed(tmp_path: Path):
    arguments = ["generate", "opinfo", "--operators", "t", "--dtypes", "int8", "--jobs", "1", "--run"]
    result = call(*arguments, "--out", str(tmp_path))
    assert result.exit_code == 0, result.stderr
    counts = json.loads((tmp_path / "matrix.json").read_text())["operators"]["t"]["int8"]
    assert list(counts) == ["agree"]
    assert f"| `t` | {counts['agree']} |" in (tmp_path / "matrix.md").read_text()
    again = call(*arguments, "--out", str(tmp_path))
    assert "1 program, 1 judged before" in again.stdout
