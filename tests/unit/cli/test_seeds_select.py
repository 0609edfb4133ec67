"""``eqfuzz seeds select``: what is in a pool, what is copied, and its exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eqfuzz.commands.seeds.select_seeds import copies_of
from eqfuzz.imports.safetensors import StoredTensor, safetensors_file
from tests.unit.cli.in_process import call

CONVOLUTION = """# /// eqfuzz
# source = "onnx"
# weights = "weights.safetensors"
# ///
import torch
from torch import nn

class Program(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(1, 2, 3)
        self.register_buffer("scale", weights["scale"])

    def forward(self, x):
        return self.first(x).relu().t_(0, 1) if x.dim() == 2 else self.first(x).transpose(0, 1) * self.scale

def inputs(rng):
    yield rng.normal(1, 1, 4, 4)
"""
FUNCTION = "def program(x): return x + 1\n\ndef inputs(rng):\n    yield rng.normal(3)\n"


@pytest.fixture
def seeds(tmp_path: Path) -> Path:
    folder = tmp_path / "seeds"
    folder.mkdir()
    (folder / "convolution.py").write_text(CONVOLUTION)
    (folder / "weights.safetensors").write_bytes(safetensors_file([StoredTensor("scale", "float32", (), bytes(4))]))
    (folder / "function.py").write_text(FUNCTION)
    (folder / "broken.py").write_text(FUNCTION.replace("x + 1", "x + y"))
    return folder


def test_pool_is_listed_with_structures_and_copied_with_weights(seeds: Path, tmp_path: Path) -> None:
    out = tmp_path / "pool"
    arguments = ["seeds", "select", str(seeds), "--pool", "conv3x3", "--out", str(out), "--jobs", "1", "--unsafe"]
    result = call(*arguments, "--format", "json")
    assert result.exit_code == 0
    events = [json.loads(line) for line in result.stdout.splitlines()]
    structures = {
        Path(e["path"]).stem: e["structure"] for e in events if e["event"] == "structure" and not e["problem"]
    }
    assert structures["convolution"] == {
        "operators": [["convolution", 1], ["mul", 1], ["transpose", 1]],
        "kernels": [[3, 3]],
        "parameters": 21,
        "layers": 2,
        "submodules": ["first"],
    }
    assert structures["function"]["operators"] == [["add", 1]]
    assert [e["problem"] for e in events if e.get("problem")] == ["raises in eager: NameError: name 'y' is not defined"]
    (selection,) = [event for event in events if event["event"] == "selection"]
    assert selection["paths"] == [str(seeds / "convolution.py")]
    assert sorted(path.name for path in out.iterdir()) == ["convolution.py", "weights.safetensors"]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ([], "--pool: name a pool (conv1x1, conv3x3, conv5x5, small, big, basic), or write an expression with --where"),
        (["--pool", "big", "--where", "1"], "--pool: name a pool"),
        (["--pool", "conv3"], "--pool: no pool 'conv3', did you mean 'conv3x3'?"),
        (["--where", "layer > 1"], "--where: no 'layer' in a structure, did you mean 'layers'?"),
    ],
)
def test_bad_use_has_one_line(arguments: list[str], line: str) -> None:
    result = call("seeds", "select", *arguments)
    assert result.exit_code == 2
    assert line in result.stderr
    assert result.stderr.count("\n") == 1


def test_no_file_is_overwritten(seeds: Path, tmp_path: Path) -> None:
    out = tmp_path / "pool"
    out.mkdir()
    (out / "weights.safetensors").write_bytes(b"other weights")
    result = call("seeds", "select", str(seeds), "--where", "kernels(3)", "--out", str(out), "--jobs", "1", "--unsafe")
    assert result.exit_code == 2
    assert f"--out: {out / 'weights.safetensors'} is another file than {seeds / 'weights.safetensors'}" in result.stderr
    assert (out / "weights.safetensors").read_bytes() == b"other weights"
    assert not (out / "convolution.py").exists()


def test_seeds_of_one_name_keep_their_folders(seeds: Path, tmp_path: Path) -> None:
    other = seeds / "more" / "vision"
    other.mkdir(parents=True)
    copied = [seeds / "convolution.py", seeds / "function.py", other / "function.py", other / "rest.py"]
    (other / "function.py").write_text(FUNCTION.replace("+ 1", "+ 2"))
    (other / "rest.py").write_text(FUNCTION)
    copies = copies_of(copied, tmp_path / "pool")
    assert {
        str(copy.relative_to(tmp_path / "pool")): str(file.relative_to(seeds)) for copy, file in copies.items()
    } == {
        "convolution.py": "convolution.py",
        "weights.safetensors": "weights.safetensors",
        "function.py": "function.py",
        "more/vision/function.py": "more/vision/function.py",
        "rest.py": "more/vision/rest.py",
    }
