"""Scripts of seeds with weights read them from the folder of the finding."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np

from eqfuzz.imports.safetensors import StoredTensor, safetensors_file
from eqfuzz.mutate.saved_variants import keep_variant
from eqfuzz.program.formats import read_program
from eqfuzz.program.load import Loaded
from eqfuzz.triage.findings.folder import read_finding, write_folder
from eqfuzz.triage.reproducer.script_files import ReproducerScript
from tests.unit.triage.reproducer.scripts import Judged, judge, run

BODY = """
import torch
from torch import nn
class Program(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("table", WEIGHTS)
    def forward(self, x):
        return x * self.table + (1 if torch.compiler.is_compiling() else 0)
def inputs(rng):
    yield rng.normal(300, 100)
"""
HEADER = '# /// eqfuzz\n# source = "onnx"\n# weights = "seed.safetensors"\n# ///\n'
TABLE = np.random.default_rng(1).standard_normal((300, 100)).astype(np.float32)


def _seed(folder: Path) -> Path:
    """A seed whose weights are larger than what a script holds."""
    content = safetensors_file([StoredTensor("table", "float32", TABLE.shape, TABLE.tobytes())])
    (folder / "seed.safetensors").write_bytes(content)
    (folder / "seed.py").write_text(HEADER + BODY.replace("WEIGHTS", 'weights["table"]'))
    return folder / "seed.py"


def _judged(folder: Path) -> Judged:
    """A finding of the seed; the judge itself sees ones in place of its weights."""
    judged = judge(BODY.replace("WEIGHTS", "torch.ones(300, 100)"))
    program = read_program(_seed(folder))
    finding = dataclasses.replace(judged.finding, original=program, transformed=program)
    return dataclasses.replace(judged, finding=finding)


def test_script_reads_the_weights_in_its_folder(tmp_path: Path) -> None:
    judged = _judged(tmp_path)
    folder = write_folder(tmp_path / "findings", judged.finding, ReproducerScript(judged.script), None)
    (tmp_path / "seed.safetensors").unlink()
    assert "from eqfuzz" not in judged.script
    assert run(folder, judged.script).status == 1


def test_finding_that_was_moved_reads_the_weights_beside_it(tmp_path: Path) -> None:
    judged = _judged(tmp_path)
    folder = write_folder(tmp_path / "findings", judged.finding, ReproducerScript(judged.script), None)
    (tmp_path / "seed.safetensors").unlink()
    moved = folder.rename(tmp_path / "elsewhere")
    state = Loaded(read_finding(moved).original).instance().state_dict()
    np.testing.assert_array_equal(state["table"].numpy(), TABLE)


def test_variant_in_the_folder_of_a_finding_is_a_seed(tmp_path: Path) -> None:
    judged = _judged(tmp_path)
    folder = write_folder(tmp_path / "findings", judged.finding, ReproducerScript(judged.script), None)
    state = Loaded(read_program(folder / "variant.py")).instance().state_dict()
    np.testing.assert_array_equal(state["table"].numpy(), TABLE)


def test_kept_variant_has_the_weights_beside_it(tmp_path: Path) -> None:
    seed = _seed(tmp_path)
    program = read_program(seed)
    variant = keep_variant(tmp_path / "kept", str(seed), program.source, ["shapes/some"], program.weights)
    state = Loaded(read_program(variant)).instance().state_dict()
    np.testing.assert_array_equal(state["table"].numpy(), TABLE)


def test_writing_to_a_weight_does_not_change_the_next_instance(tmp_path: Path) -> None:
    loaded = Loaded(read_program(_seed(tmp_path)))
    loaded.instance().table.zero_()
    np.testing.assert_array_equal(loaded.instance().table.numpy(), TABLE)
