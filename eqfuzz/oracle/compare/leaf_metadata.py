"""Metadata of leaves: how dtype, shape, device, type or strides of two leaves differ, in words."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from eqfuzz.oracle.observe.leaf_values import are_zero_gradients, plain
from eqfuzz.oracle.observe.readability import Unreadable


def metadata_difference(first: Any, second: Any, names: tuple[str, str], *, strict: bool) -> str:
    """How dtype, shape, device or type differ, such as ``dtype is torch.int32 in eager and torch.int64 in compiled``.

    "" where they are equal. ``names`` are those of the two sides; ``strict`` compares ``requires_grad`` too.
    """
    if not (isinstance(first, torch.Tensor) and isinstance(second, torch.Tensor)):
        return _type_difference(first, second, names)
    for name in ("dtype", "shape", "device", *(("requires_grad",) if strict else ())):
        left, right = getattr(first, name), getattr(second, name)
        if left != right:
            return _differ(name, plain(left), plain(right), names)
    return ""


def strides_difference(first: Any, second: Any, names: tuple[str, str]) -> str:
    """How the strides of two tensors of equal shape differ; "" where they do not, or only in dimensions of size 1."""
    if not (isinstance(first, torch.Tensor) and isinstance(second, torch.Tensor)):
        return ""
    if first.numel() and _strides(first) != _strides(second):
        return _differ("stride", first.stride(), second.stride(), names)
    return ""


def _type_difference(first: Any, second: Any, names: tuple[str, str]) -> str:
    if are_zero_gradients(first, second) or (isinstance(first, Unreadable) and isinstance(second, Unreadable)):
        return ""
    left, right = _type_of(first), _type_of(second)
    return "" if left == right else _differ("type", left, right, names)


def _differ(name: str, left: Any, right: Any, names: tuple[str, str]) -> str:
    return f"{name} is {left} in {names[0]} and {right} in {names[1]}"


def _type_of(value: Any) -> str:
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and not value.ndim):
        # Dynamo represents scalars of NumPy as arrays without dimensions, which RFC 0032 of PyTorch states.
        return f"NumPy scalar of {value.dtype}"
    if isinstance(value, np.ndarray):
        return f"ndarray of {value.dtype} with shape {value.shape}"
    if isinstance(value, Unreadable):
        return f"unreadable ({value.why})"
    return type(value).__name__


def _strides(value: torch.Tensor) -> list[int]:
    return [stride for size, stride in zip(value.shape, value.stride(), strict=True) if size > 1]
