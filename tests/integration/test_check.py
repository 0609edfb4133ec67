"""A model of a user's own package is checked; a planted fault is found in the uses that reach it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commandline import write
from tests.integration.test_imported_package import PACKAGE, SHIFTED_RELU

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

SCORES = """
    import torch


    def scores(x, weight):
        return torch.relu(x @ weight).sum(-1)
"""


def checked(folder: Path, *arguments: str) -> tuple[int, dict[str, str]]:
    """Exit code and outcomes by use."""
    command = [sys.executable, "-m", "eqfuzz", "check", *arguments, "--format", "json", "--out", "out"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
    summary = json.loads(done.stdout.splitlines()[-1])
    assert summary["event"] == "checked", done.stderr
    return done.returncode, {use["title"]: use["outcome"] for use in summary["uses"]}


@pytest.mark.long
def test_planted_fault_is_found_in_a_function(tmp_path: Path):
    write(tmp_path, "mine.py", SCORES)
    preload = write(tmp_path, "relu.py", SHIFTED_RELU)
    inputs = ["--inputs", "rng.normal(4, 6), rng.normal(6, 3)"]
    code, outcomes = checked(tmp_path, "mine:scores", *inputs, "--variants", "0", "--preload", str(preload))
    assert code == 1
    assert outcomes == {"forward and backward": "differs", "dynamic sizes": "differs"}


@pytest.mark.long
def test_model_of_a_package_agrees(tmp_path: Path):
    shutil.copytree(PACKAGE, tmp_path / "shop")
    code, outcomes = checked(tmp_path, "shop.vision:SmallResNet", "--inputs", "rng.normal(2, 3, 16, 16)")
    assert code == 0
    assert set(outcomes.values()) == {"agrees"}
    assert len(outcomes) == 6
