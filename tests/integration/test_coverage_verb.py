"""``eqfuzz coverage``: lines of torch that programs run, in children; the same command resumes."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from eqfuzz.cli.app import app
from eqfuzz.commands.measure_coverage import BASELINE, JOURNAL
from eqfuzz.program.release import this_release
from eqfuzz.run.coverage.torch_baseline import TorchBaseline, _parsed
from eqfuzz.torch_internals.source_tree import torch_folder

FILES = ("nn/functional.py", "_inductor/lowering.py", "_inductor/ir.py")
SEED = """
import torch
from torch.nn import functional as F
def program(x): return F.{function}(x) + 1
def inputs(rng): yield (rng.normal(4, 4),)
"""


@pytest.fixture
def out(tmp_path):
    """A folder with a baseline of a few files of torch in which nothing has run: that of all takes a minute."""
    folder = tmp_path / "out"
    folder.mkdir()
    parsed = {file: _parsed(torch_folder() / file) for file in FILES}
    baseline = TorchBaseline(
        versions=this_release().to_versions(),
        statements={file: one[0] for file, one in parsed.items()},
        first_lines={file: one[1] for file, one in parsed.items()},
        imported={},
        started={},
    )
    (folder / BASELINE).write_text(json.dumps(baseline.to_json()))
    return folder


def coverage(*arguments: str):
    result = CliRunner().invoke(app, ["coverage", *arguments, "--jobs", "1", "--format", "json"])
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.mark.slow
@pytest.mark.long
def test_lines_of_eager_and_compiler_are_counted_once_and_resumed(tmp_path, out):
    seeds = tmp_path / "seeds"
    seeds.mkdir()
    for function in ("softsign", "hardshrink"):
        (seeds / f"{function}.py").write_text(SEED.format(function=function))
    (seeds / "z_killer.py").write_text(
        SEED.format(function="softsign").replace("def program(x):", "import os\ndef program(x):\n    os._exit(3)\n   ")
    )
    events = coverage(str(seeds), "--out", str(out))
    programs = {event["program"]: event for event in events if event["event"] == "program"}
    summary = events[-1]
    assert len(programs) == 3
    assert summary["started"]["torch"] == 0
    assert summary["together"]["torch"] > 100
    assert 0 < summary["together"]["compiler"] < summary["together"]["torch"]
    assert sum(event["new"] for event in programs.values()) == summary["together"]["torch"]
    assert [bool(event["problem"]) for name, event in sorted(programs.items())] == [False, False, True]
    assert (out / "coverage.svg").read_text().count("<polyline") == 2

    again = coverage(str(seeds), "--out", str(out))
    assert [event["event"] for event in again] == ["start", "summary"]
    assert again[0]["earlier"] == 3
    assert {**again[-1], "seconds": 0} == {**summary, "seconds": 0}

    lines = (out / JOURNAL).read_text().splitlines(keepends=True)
    (out / JOURNAL).write_text("".join(lines[:-1]) + lines[-1][:40])  # as after kill -9 in the middle of a line
    resumed = coverage(str(seeds), "--out", str(out))
    assert [event["event"] for event in resumed] == ["start", "program", "summary"]
    assert resumed[-1]["together"] == summary["together"]


def test_folder_of_another_torch_is_refused(tmp_path, out):
    data = json.loads((out / BASELINE).read_text())
    (out / BASELINE).write_text(json.dumps({**data, "versions": {"torch": "1.0"}}))
    result = CliRunner().invoke(app, ["coverage", "--template", "default", "--count", "1", "--out", str(out)])
    assert result.exit_code == 2
    assert "figures of another torch" in result.stderr
