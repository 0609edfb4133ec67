"""``eqfuzz campaign`` through the command line: to its budget, resumed, and with bad input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commandline import eqfuzz, write

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

FAULTS = Path(__file__).parents[2] / "tools" / "fault_detection" / "frequent"

ABSOLUTE = """
    import torch
    def program(x, y):
        return torch.abs(x) + y, x * 2 - y
    def inputs(rng):
        return torch.tensor([-1.0, 2.0, -3.0]), torch.tensor([4.0, 5.0, 6.0])
"""
SUMS = """
    import torch
    def program(x):
        return x.sum(0), torch.softmax(x, 1)
    def inputs(rng):
        return (torch.tensor([[-1.0, 2.0], [-3.0, 0.5]]),)
"""
RAISES = """
    import torch
    def program(x):
        raise ValueError("no")
    def inputs(rng):
        return (torch.ones(2),)
"""


def configured(folder: Path, *, tier: str = "code", fault: str = "abs_keeps_the_sign", **budget: int) -> Path:
    """A configuration with three seeds, one of them invalid, and a fault planted; the same on any machine."""
    for name, text in (("absolute.py", ABSOLUTE), ("sums.py", SUMS), ("raises.py", RAISES)):
        write(folder / "seeds", name, text)
    lines = [
        "seed = 3",
        "[budget]",
        *(f"{name} = {value}" for name, value in budget.items()),
        "[sources]",
        'seeds = ["seeds"]',
        "templates = []",
        "[rewriting]",
        "variants = 1",
        "depth = 2",
        "[compiling]",
        'configs = ["inductor"]',
        f'tiers = ["{tier}"]',
        "threaded = 0.0",
        f'preload = "{FAULTS / fault}.py"',
        "[judging]",
        "steps = 0",
        "[feedback]",
        "epoch = 3",
        "traced = 1.0",
        'cost = "cells"',
    ]
    path = folder / "eqfuzz.toml"
    path.write_text("\n".join(lines) + "\n")
    return path


def run(file: Path, *arguments: object) -> tuple[int, list[dict[str, object]], str]:
    done = eqfuzz("campaign", "--file", file, "--format", "json", *arguments, timeout=500)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr


@pytest.mark.long
def test_campaign_finds_fault_learns_and_resumes(tmp_path):
    file, out = configured(tmp_path, cells=5), tmp_path / "out"
    code, events, errors = run(file, "--name", "night", "--out", out, "--jobs", 1)
    assert code == 1, errors
    summary = events[-1]
    assert summary["event"] == "summary"
    assert summary["why"] == "cells"
    assert summary["seed"] == 3
    assert summary["buckets"] == 1
    assert summary["figures"]["cells"] >= 5
    ids = {event["id"] for event in events if event["event"] == "finding"}
    assert len(ids) == 1
    epochs = [event for event in events if event["event"] == "epoch"]
    assert epochs
    assert epochs[0]["new_features"] > 0
    assert epochs[0]["new_lines"] > 1000
    written = [json.loads(line) for line in (out / "night" / "events.ndjson").read_text().splitlines()]
    assert [event["event"] for event in written] == [event["event"] for event in events]
    assert json.loads((out / "night" / "stats.json").read_text())["cells"] == summary["figures"]["cells"]

    code, events, errors = run(configured(tmp_path, cells=9), "--name", "night", "--out", out, "--jobs", 1)
    assert code == 1, errors
    again = events[-1]
    assert events[0]["resumed"] is True
    assert again["figures"]["cells"] >= 9
    assert again["buckets"] == 1
    assert again["figures"]["features"] >= summary["figures"]["features"] > 0

    campaign = json.loads(eqfuzz("campaign", "show", "night", "--out", out, "--check", "--format", "json").stdout)
    assert campaign["problems"] == []
    assert {finding["id"] for finding in campaign["findings"]} >= ids
    shrunk = json.loads(eqfuzz("corpus", "min", "night", "--out", out, "--format", "json").stdout)
    assert 1 <= shrunk["after"] <= shrunk["before"]
    exported = eqfuzz("campaign", "export", "night", tmp_path / "copy", "--out", out)
    assert exported.returncode == 0, exported.stderr
    assert len(list((tmp_path / "copy" / "corpus").iterdir())) >= shrunk["after"]
    outcomes = (tmp_path / "copy" / "outcomes.jsonl").read_text().splitlines()
    assert len(outcomes) == campaign["items"]["done"]
    assert (tmp_path / "copy" / "findings" / ids.pop() / "repro.py").is_file()
    assert "night" in eqfuzz("campaign", "list", "--out", out).stdout

    other = eqfuzz("campaign", "--file", file, "--name", "night", "--out", out, "--depth", 3)
    assert other.returncode == 2
    assert "started with other settings: rewriting.depth" in other.stderr


def test_campaign_of_graphs_finds_fault_of_pass(tmp_path):
    file = configured(tmp_path, tier="graphs", fault="pass_swaps_differences", cells=5)
    code, events, errors = run(file, "--out", tmp_path / "out", "--jobs", 1)
    assert code == 1, errors
    summary = events[-1]
    assert summary["buckets"] == 1
    assert summary["figures"]["only_graphs"] >= 1
    assert [event for event in events if event["event"] == "finding"]


def test_campaign_without_valid_seed_ends_with_one_line(tmp_path):
    file = configured(tmp_path)
    raises = tmp_path / "seeds" / "raises.py"
    done = eqfuzz("campaign", "--file", file, "--seeds", raises, "--out", tmp_path / "out")
    assert done.returncode == 2, done.stdout
    assert done.stderr.count("\n") == 1
    assert "no source has a seed that runs" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--name", "../up"], "--name"),
        (["--time", "soon"], "--time"),
        (["--template", "fusoin"], "fusoin"),
        (["--seeds", "nowhere"], "nowhere"),
        (["--db", "mysql://me:secret@host/x"], "mysql is not supported"),
        (["--rules", "nothing/*"], "nothing/*"),
        (["--file", "missing.toml"], "missing.toml"),
        (["--config", "fastest"], "fastest"),
    ],
)
def test_bad_input_is_one_line(tmp_path, arguments, message):
    done = eqfuzz("campaign", *arguments, "--out", tmp_path / "out")
    assert done.returncode == 2, done.stdout + done.stderr
    assert done.stderr.count("\n") == 1
    assert message in done.stderr
    assert "secret" not in done.stderr


def test_misspelt_key_has_suggestion(tmp_path):
    (tmp_path / "c.toml").write_text("[budget]\ncels = 3\n")
    done = eqfuzz("campaign", "--file", tmp_path / "c.toml", "--out", tmp_path / "out")
    assert done.returncode == 2
    assert "budget.cels: unknown key, did you mean 'cells'?" in done.stderr
