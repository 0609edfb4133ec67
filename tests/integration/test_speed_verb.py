"""``eqfuzz speed``: a planted slowdown is found, noise is not, and seeds run in children."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from eqfuzz.cli.app import app

SEED = """
import torch
def program(x, y): return (x + y).sin() * x
def inputs(rng): yield rng.normal(64, 64), rng.normal(64, 64)
"""
SLOW_RULE = """
import torch
from eqfuzz.rewrite.rules.rule import rule

@rule(exact="ulp", gradients=False)
def sin_beside_sort(x):
    \"\"\"It sorts many elements that the result does not need.\"\"\"
    return torch.Tensor.sin(x), torch.sin(x) + 0.0 * torch.sort(torch.arange(1_000_000))[0][0]
"""


def call(*arguments: str):
    return CliRunner().invoke(app, ["speed", *arguments])


@pytest.fixture
def seed(tmp_path):
    file = tmp_path / "seed.py"
    file.write_text(SEED)
    return file


@pytest.mark.slow
def test_planted_slowdown_is_found_and_noise_is_not(tmp_path, seed):
    planted = tmp_path / "planted.py"
    planted.write_text(SLOW_RULE)
    out = tmp_path / "out"
    options = ["--seconds", "0.5", "--out", str(out), "--rules-from", str(planted), "--strategy", "each"]
    options += ["--variants", "0", "--rules", "add_function,planted/*", "--format", "json"]
    result = call(str(seed), *options)
    events = [json.loads(line) for line in result.stdout.splitlines()]
    [timed] = [event for event in events if event["event"] == "seed"]
    original, *variants = timed["programs"]
    slow = {tuple(program["rules"]): program["slow"] for program in variants}
    assert result.exit_code == 1
    assert not original["slow"]
    assert slow[("operators/add_function",)] == ""
    assert "times as long" in slow[("planted/sin_beside_sort",)]
    assert events[-1]["event"] == "summary"
    assert events[-1]["slow"] == 1
    assert (out / "speed.svg").read_text().count("<circle") == 4 + 2 * 4


@pytest.mark.slow
def test_seed_that_kills_its_process_is_reported_and_the_next_is_timed(tmp_path, seed):
    killer = tmp_path / "a_killer.py"
    killer.write_text(SEED.replace("def program(x, y): ", "import os\ndef program(x, y):\n    os._exit(3)\n    "))
    result = call(str(tmp_path), "--seconds", "0.2", "--out", str(tmp_path / "out"))
    assert result.exit_code == 0, result.output
    assert "not timed: " in result.stdout
    assert "1 of 2 seeds timed" in result.stdout
    assert "transformed ÷ original over all variants" in result.stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--jobs", "2"], "--jobs: programs that are timed at once slow each other"),
        (["--config", "all"], "--config: one configuration at a time"),
        (["--rules", "nope"], "--rules: no rule fits"),
    ],
)
def test_unusable_options_are_one_line_and_exit_2(seed, options, message):
    result = call(str(seed), *options)
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1
