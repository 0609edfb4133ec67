"""Values that operators are run on: copies of them, and whether two are the same bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from eqfuzz.imports.text.literals import Unsupported


def torch_dtype(tensor: Tensor) -> str:
    """Torch's name of the element type."""
    return str(tensor.dtype).removeprefix("torch.")


def array_of(tensor: Tensor) -> np.ndarray:
    """The elements as an array; bfloat16 as float32. Raises Unsupported for what NumPy cannot hold."""
    plain = tensor.detach().resolve_conj().resolve_neg()
    try:
        return (plain.float() if plain.dtype is torch.bfloat16 else plain).contiguous().numpy().copy()
    except (TypeError, RuntimeError) as error:
        raise Unsupported(f"weights of {torch_dtype(tensor)}: {error}") from None


def copied(values: Any) -> Any:
    """The values with tensors of their own, of the same strides."""
    if isinstance(values, list | tuple):
        return [copied(value) for value in values]
    if isinstance(values, Tensor):
        return _cloned(values.detach())
    return values


def _cloned(tensor: Tensor) -> Tensor:
    """A copy of the same strides, also where elements overlap or lie apart."""
    dense = tensor.clone()
    if dense.stride() == tensor.stride():
        return dense
    steps = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    storage = tensor.as_strided((steps + 1 if tensor.numel() else 0,), (1,)).clone()
    return storage.as_strided(tensor.shape, tensor.stride())


def same(one: Any, other: Any) -> bool:
    """Whether two values are the same bits, laid out alike; NaN is the same as NaN."""
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(same(a, b) for a, b in zip(one, other, strict=True))
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        alike = one.dtype == other.dtype and one.shape == other.shape and one.stride() == other.stride()
        return alike and _same_elements(one.detach(), other.detach())
    return type(one) is type(other) and repr(one) == repr(other)


def _same_elements(one: Tensor, other: Tensor) -> bool:
    if one.is_floating_point() or one.is_complex():
        return torch.allclose(one, other, rtol=0, atol=0, equal_nan=True) and not _other_zeros(one, other)
    return torch.equal(one, other)


def _other_zeros(one: Tensor, other: Tensor) -> bool:
    if one.is_complex():
        return _other_zeros(one.real, other.real) or _other_zeros(one.imag, other.imag)
    zeros = one == 0
    return bool((zeros & (torch.signbit(one) != torch.signbit(other))).any())
