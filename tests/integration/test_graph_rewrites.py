"""A fault that only a rewrite of the graph meets: found, placed, reduced and reproduced without eqfuzz."""

import json
import subprocess
import sys

import pytest

from eqfuzz.triage.findings.folder import read_finding
from tests.commandline import eqfuzz

FAULT = """
import torch
from torch._inductor import lowering

subtract = lowering.lowerings[torch.ops.aten.sub.Tensor]


def wrong(a, b, *rest, **more):
    return subtract(a, 1 if b == 0 else b, *rest, **more)


lowering.lowerings[torch.ops.aten.sub.Tensor] = wrong
"""

SEED = """
import torch


def program(x, y):
    return (x.sin() + y).sum(1)


def inputs(rng):
    yield rng.normal(3, 4), rng.normal(3, 4)
"""

CONFIGS = """
[configs.rewritten]
graph = [
    { point = "post-grad", rule = "minus_zero", place = 3 },
    { point = "joint", rule = "negated_twice", place = 5 },
    { point = "lowering", rule = "padded", place = 1 },
]
"""


@pytest.mark.long
def test_a_finding_needs_its_rewrite_of_the_graph(tmp_path):
    for name, text in (("fault.py", FAULT), ("seed.py", SEED), ("configs.toml", CONFIGS)):
        (tmp_path / name).write_text(text)
    common = [
        "--strategy",
        "none",
        "--preload",
        tmp_path / "fault.py",
        "--out",
        tmp_path / "out",
        "--no-check",
        "audit",
    ]
    configs = ["--configs-from", tmp_path / "configs.toml", "--config", "inductor,rewritten", "--format", "json"]
    ran = eqfuzz("mutate", tmp_path / "seed.py", *common, *configs)
    assert ran.returncode == 1, ran.stderr
    events = [json.loads(line) for line in ran.stdout.splitlines()]
    kinds = {one["config"]: one["verdict"]["kind"] for one in events if one["event"] == "cell" and one["config"]}
    assert (kinds["inductor"], kinds["rewritten"]) == ("agree", "wrong-result")
    (folder,) = (tmp_path / "out" / "findings").iterdir()
    assert read_finding(folder).place == "Inductor, lowerings: sub"

    reduced = eqfuzz("reduce", folder.name, "--out", tmp_path / "out")
    assert reduced.returncode == 0, reduced.stderr
    finding = read_finding(folder)
    assert [step.partition(" at ")[0] for step in finding.graph_steps] == ["post-grad: minus_zero"]
    script = subprocess.run([sys.executable, "-I", folder / "repro.py"], capture_output=True, text=True, check=False)
    assert script.returncode == 1, script.stderr
    assert "graphs   post-grad: minus_zero at" in reduced.stdout
