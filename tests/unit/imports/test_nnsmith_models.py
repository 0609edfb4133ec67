"""Random models of NNSmith agree, as seeds, with ONNX Runtime within the oracle's error bound.

``tools/nnsmith_models.py --count 41 --elements 256 --out tests/unit/imports/nnsmith`` wrote the models.
"""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("onnx", reason="the package onnx is missing: pip install 'eqfuzz[onnx]'")
pytest.importorskip("onnxruntime", reason="the package onnxruntime is missing: pip install onnxruntime")

import numpy as np
import onnx
import onnxruntime

from eqfuzz.oracle.compare.leaf_comparison import against_reference
from eqfuzz.oracle.observe.observer import observe
from eqfuzz.oracle.reference.error_bound import reference
from eqfuzz.program.call import Call
from tests.unit.imports.running import module_of, to_torch, translated

pytestmark = pytest.mark.slow

MODELS = sorted((Path(__file__).parent / "nnsmith").glob("*.onnx"))


def inputs_of(session: onnxruntime.InferenceSession) -> dict[str, np.ndarray]:
    """Random arrays of the model's types and shapes."""
    rng = np.random.default_rng(5)
    kinds = {"tensor(float)": np.float32, "tensor(int64)": np.int64, "tensor(bool)": np.bool_}
    return {
        one.name: np.asarray(rng.uniform(0.5, 3.5, one.shape)).astype(kinds[one.type]) for one in session.get_inputs()
    }


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_random_model_agrees_with_onnx_runtime(path: Path) -> None:
    model = onnx.load(path)
    seed = translated(model)
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    except Exception as error:
        if "NOT_IMPLEMENTED" not in str(error):
            raise
        pytest.skip(f"ONNX Runtime has no kernel: {error}")
    inputs = inputs_of(session)
    calls = [Call(tuple(map(to_torch, inputs.values())), {})]
    [eager] = observe(lambda: module_of(seed), calls).calls
    measured = reference(lambda: module_of(seed), calls)
    results = session.run(None, inputs)
    assert len(results) == len(eager.outputs)
    for (name, leaf), (_, right), result in zip(eager.outputs, measured.calls[0].outputs, results, strict=True):
        assert result.shape == tuple(leaf.shape), name
        assert to_torch(result).dtype is leaf.dtype, name
        difference = against_reference(leaf, to_torch(result), right, measured.unknown or measured.data_dependent)
        assert difference is None, difference.describe((name, "ONNX Runtime"))


def test_there_are_models() -> None:
    assert len(MODELS) == 41
