"""``eqfuzz seeds import`` of Python classes: what it prints, and its exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.cli.in_process import call

MODEL = """
from torch import nn

class Gate(nn.Module):
    def forward(self, x):
        return x.sigmoid()
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gates.py").write_text(MODEL)
    monkeypatch.chdir(tmp_path)


def test_class_becomes_a_seed() -> None:
    result = call("seeds", "import", "gates:Gate", "--inputs", "rng.normal(3)", "--inputs", "rng.normal(2, 2)")
    assert result.exit_code == 0
    assert "eqfuzz-out/seeds/Gate.py  1 definition of 1 module: gates" in result.stdout
    text = Path("eqfuzz-out/seeds/Gate.py").read_text()
    assert text.endswith("def inputs(rng):\n    yield rng.normal(3)\n    yield rng.normal(2, 2)\n")


def test_events_name_the_modules() -> None:
    result = call("seeds", "import", "gates:Gate", "--inputs", "rng.normal(3)", "--format", "json")
    events = [json.loads(line) for line in result.stdout.splitlines()]
    assert [event["event"] for event in events] == ["start", "seed-start", "import", "summary"]
    assert (events[2]["definitions"], events[2]["modules"]) == (1, ["gates"])


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["gates:Gate"], "--inputs: gates:Gate needs inputs: write --inputs 'rng.normal(2, 3, 32, 32)'"),
        (["gates:Gat", "--inputs", "1"], "defines no 'Gat', did you mean 'Gate'?"),
        (["gates:Gate", "other.onnx", "--inputs", "1"], "MODELS: import gates:Gate alone: its inputs are its own"),
        (
            ["other.onnx", "--inputs", "1"],
            "--inputs: is for a class, package.module:Class, or a module",
        ),
        (["other.onnx", "--construct", "A()"], "--construct: is for a class: package.module:Class"),
    ],
)
def test_bad_use_has_one_line(arguments: list[str], line: str) -> None:
    result = call("seeds", "import", *arguments)
    assert result.exit_code == 2
    assert line in result.stderr
    assert result.stderr.count("\n") == 1
    assert not Path("eqfuzz-out").exists()
