"""Translates ONNX models in this process and runs the seeds, for comparison with a reference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import torch
from onnx import numpy_helper

from eqfuzz.imports.onnx.graph import translate
from eqfuzz.imports.onnx.model import prepared
from eqfuzz.imports.text.seed_text import SeedOptions, TranslatedSeed, seed_text


def translated(model: onnx.ModelProto, options: SeedOptions | None = None) -> TranslatedSeed:
    """The seed of a model. Raises Unsupported and InvalidModel."""
    return seed_text(translate(prepared(model)), "a model", options or SeedOptions())


def module_of(seed: TranslatedSeed) -> torch.nn.Module:
    """The module of a seed, with its weights."""
    namespace: dict[str, Any] = {"weights": {c.name: to_torch(c.array) for c in seed.weights}}
    exec(compile(seed.text, "<seed>", "exec"), namespace)
    return namespace["Program"]()


def results(module: torch.nn.Module, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
    """What the module returns for the arrays, as arrays."""
    output = module(*map(to_torch, inputs))
    return [to_numpy(tensor) for tensor in (output if isinstance(output, tuple) else (output,))]


def to_torch(array: np.ndarray) -> torch.Tensor:
    if array.dtype.name == "bfloat16":
        return torch.from_numpy(array.view(np.int16).copy()).view(torch.bfloat16)
    return torch.from_numpy(np.array(array))


def to_numpy(tensor: torch.Tensor) -> np.ndarray:
    """The values; bfloat16 as float32."""
    return tensor.detach().to(torch.float32 if tensor.dtype is torch.bfloat16 else tensor.dtype).numpy()


def array_of(value: Any) -> np.ndarray:
    """An array of a test case of ONNX; bfloat16 stays what it is."""
    return numpy_helper.to_array(value) if hasattr(value, "data_type") else np.asarray(value)


def require_close(actual: np.ndarray, expected: np.ndarray, tolerance: float) -> None:
    """Raises AssertionError where dtype, shape or values differ; ``tolerance`` is relative, and absolute below 1."""
    if expected.dtype.name == "bfloat16":
        expected = expected.astype(np.float32)
    assert actual.dtype == expected.dtype
    assert actual.shape == expected.shape
    np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance)
