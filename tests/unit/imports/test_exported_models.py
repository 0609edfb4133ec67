"""Models that torch exports agree, as seeds, with ONNX Runtime."""

from __future__ import annotations

import io
import warnings

import pytest

pytest.importorskip("onnx", reason="the package onnx is missing: pip install 'eqfuzz[onnx]'")
pytest.importorskip("onnxruntime", reason="the package onnxruntime is missing: pip install onnxruntime")

import onnx
import onnxruntime
import torch
from torch import nn

from tests.unit.imports.models import MODELS, Attention
from tests.unit.imports.running import module_of, require_close, results, translated

pytestmark = pytest.mark.slow

BOUND = 2e-5
"""Relative difference to a run in another order of summation, of activations around 1."""


def _exported(module: nn.Module, example: torch.Tensor, *, dynamo: bool) -> onnx.ModelProto:
    """The model; the older exporter leaves the first dimension open."""
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if dynamo:
            program = torch.onnx.export(module, (example,), dynamo=True, verbose=False)
            assert program is not None
            return program.model_proto
        options = {"input_names": ["x"], "dynamic_axes": {"x": {0: "batch"}}, "opset_version": 17}
        torch.onnx.export(module, (example,), file, dynamo=False, **options)
    return onnx.load_model_from_string(file.getvalue())


@pytest.mark.parametrize("name", MODELS)
def test_exported_model_agrees_with_onnx_runtime(name: str) -> None:
    torch.manual_seed(3)
    make, draw = MODELS[name]
    example = draw()
    model = _exported(make().eval(), example, dynamo=False)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    expected = session.run(None, {session.get_inputs()[0].name: example.numpy()})
    actual = results(module_of(translated(model)), [example.numpy()])
    for one, other in zip(actual, expected, strict=True):
        require_close(one, other, BOUND)


@pytest.mark.parametrize("name", ["classifier", "residual", "attention", "transformer"])
def test_export_of_the_newer_exporter_agrees_with_onnx_runtime(name: str) -> None:
    pytest.importorskip("onnxscript", reason="the package onnxscript is missing: pip install onnxscript")
    torch.manual_seed(3)
    make, draw = MODELS[name]
    example = draw()
    model = _exported(make().eval(), example, dynamo=True)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    expected = session.run(None, {session.get_inputs()[0].name: example.numpy()})
    actual = results(module_of(translated(model)), [example.numpy()])
    for one, other in zip(actual, expected, strict=True):
        require_close(one, other, BOUND)


def test_sizes_stay_open_where_the_model_leaves_them_open() -> None:
    torch.manual_seed(3)
    model = _exported(Attention().eval(), torch.randn(2, 7, 16), dynamo=False)
    seed = translated(model)
    assert "x.shape[0]" in seed.text
    (result,) = results(module_of(seed), [torch.randn(5, 7, 16).numpy()])
    assert result.shape == (5, 7, 16)
