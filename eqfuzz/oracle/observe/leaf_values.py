"""Values of leaves: as tensors, equality of their elements, distances between them."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from eqfuzz.oracle.observe.leaves import is_tensor_like


def identical(first: Any, second: Any, *, signed_zero: bool) -> bool:
    """Whether all elements are equal. NaN equals NaN, whatever its payload; shapes and dtypes must be equal too."""
    if is_tensor_like(first) and is_tensor_like(second):
        left, right = as_tensor(first), as_tensor(second)
        if left is None or right is None:
            return bool(np.array_equal(np.asarray(first), np.asarray(second)))
        if left.dtype != right.dtype or left.shape != right.shape:
            return False
        return bool(equal_elements(left, right, signed_zero=signed_zero).all())
    if is_tensor_like(first) or is_tensor_like(second):
        return are_zero_gradients(first, second)
    if _is_number(first) and _is_number(second):
        left, right = torch.tensor(first), torch.tensor(second)
        return left.dtype == right.dtype and bool(equal_elements(left, right, signed_zero=signed_zero).all())
    return type(first) is type(second) and bool(first == second)


def equal_elements(first: torch.Tensor, second: torch.Tensor, *, signed_zero: bool) -> torch.Tensor:
    """A mask of the elements that are equal; NaN equals NaN."""
    if first.is_complex():
        parts = equal_elements(torch.view_as_real(first), torch.view_as_real(second), signed_zero=signed_zero)
        return parts.all(-1)
    first, second = _comparable(first), _comparable(second)
    equal = first == second
    if not first.is_floating_point():
        return equal
    if signed_zero:
        equal = equal & (torch.signbit(first) == torch.signbit(second))
    return equal | (torch.isnan(first) & torch.isnan(second))


def distance_between(first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
    """The absolute difference of each pair of elements, in float64."""
    if first.is_complex() or second.is_complex():
        return (first.to(torch.complex128) - second.to(torch.complex128)).abs()
    return (first.to(torch.float64) - second.to(torch.float64)).abs()


def as_tensor(value: Any) -> torch.Tensor | None:
    """The leaf as a detached CPU tensor; None if it is not numeric."""
    if isinstance(value, torch.Tensor):
        return value.detach().cpu()
    if isinstance(value, np.generic):
        value = np.asarray(value)
    if isinstance(value, np.ndarray):
        return (
            torch.from_numpy(np.ascontiguousarray(value).reshape(value.shape)) if value.dtype.kind in "biufc" else None
        )
    return torch.tensor(value, dtype=torch.float64) if isinstance(value, float) else None


def widened(value: torch.Tensor) -> torch.Tensor:
    """Floats as float64, complex numbers as complex128, others as they are."""
    if value.is_complex():
        return value.to(torch.complex128)
    return value.to(torch.float64) if value.is_floating_point() else value


def are_zero_gradients(first: Any, second: Any) -> bool:
    """Whether one is None and the other a tensor of zeros: no gradient and a gradient of zeros mean the same."""
    if first is None and isinstance(second, torch.Tensor):
        return not bool(second.count_nonzero())
    if second is None and isinstance(first, torch.Tensor):
        return not bool(first.count_nonzero())
    return False


def plain(value: Any) -> Any:
    """A Python scalar or string, which JSON can hold."""
    return value if isinstance(value, (bool, int, float, str, type(None))) else str(value)


def _comparable(value: torch.Tensor) -> torch.Tensor:
    """8-bit floats, for which there are no comparison kernels, as float32, which holds them exactly."""
    return value.to(torch.float32) if value.is_floating_point() and value.element_size() == 1 else value


def _is_number(value: Any) -> bool:
    return isinstance(value, (float, complex)) and not isinstance(value, np.generic)
