"""``eqfuzz diff`` with one torch under two names: workers and scripts run, nothing is new."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.long


@pytest.fixture
def other_python(tmp_path: Path) -> str:
    """Another interpreter with the same torch."""
    file = tmp_path / "python"
    file.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    file.chmod(0o755)
    return str(file)


def diff(tmp_path: Path, *arguments: str) -> tuple[int, list[dict]]:
    command = [sys.executable, "-m", "eqfuzz", "diff", *arguments, "--out", str(tmp_path / "out"), "--format", "json"]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    return ran.returncode, [json.loads(line) for line in ran.stdout.splitlines()]


@pytest.mark.timeout(900)
def test_defect_of_both_is_still_there_and_the_same_call_runs_nothing(tmp_path, other_python):
    arguments = ["--python", other_python, "--python", sys.executable, "seeds/regressions/any_of_bytes.py"]
    code, events = diff(tmp_path, *arguments, "--report", f"markdown={tmp_path / 'm.md'}")
    assert code == 0
    [bucket] = [event for event in events if event["event"] == "bucket"]
    assert (bucket["state"], bucket["kind"]) == ("still", "wrong-metadata")
    assert (events[-1]["new"], events[-1]["not_tried"]) == (0, [])
    assert (tmp_path / "m.md").read_text().startswith("## eqfuzz: no new findings\n")
    changed = tmp_path / "changed.txt"
    changed.write_text("torch/_inductor/lowering.py\n")
    code, again = diff(tmp_path, *arguments, "--changed", str(changed))
    assert (again[0]["first"], again[0]["untraced"]) == (1, 0)
    [bucket] = [event for event in again if event["event"] == "bucket"]
    assert (bucket["state"], bucket["changed"]) == ("still", True)
    assert again[-1]["seconds"] < events[-1]["seconds"] / 2
