"""Preconditions that are needed together; ``where=[…]`` takes them like single ones."""

from __future__ import annotations

import torch

from eqfuzz.rewrite.facts.preconditions import (
    Precondition,
    dtype_in,
    full_precision,
    moderate,
    same_dtype,
    unmutated,
    wide,
)
from eqfuzz.rewrite.facts.shape_preconditions import contiguous, dense, non_empty, rank, same_shape, sizes


def reassociable(*names: str, bound: float = 1e3) -> tuple[Precondition, ...]:
    """Floats of one dtype, at most ``bound`` in size: another order of evaluation differs by rounding alone.

    float16 is left out, because it overflows at 65504.
    """
    return (wide(*names), same_dtype(*names), moderate(*names, bound=bound))


def elementwise(*names: str, bound: float = 1e3) -> tuple[Precondition, ...]:
    """Reassociable and contiguous: the results of all pointwise formulas have the same strides."""
    return (*reassociable(*names, bound=bound), contiguous(*names))


def copyable(*names: str) -> tuple[Precondition, ...]:
    """A pointwise copy may stand for the tensor: it has the same strides, and no later write changes either."""
    return (dense(*names), unmutated(*names))


def equal_matrices(*names: str) -> tuple[Precondition, ...]:
    """Contiguous float32 or float64 matrices of one shape and dtype, with at least one element."""
    first = names[0]
    return (
        full_precision(*names),
        same_dtype(*names),
        rank(first, 2),
        same_shape(*names),
        non_empty(first),
        contiguous(*names),
    )


def float32_rows(name: str) -> tuple[Precondition, ...]:
    """float32 of shape [..., 4]: what the modules of the examples take."""
    return (dtype_in(name, torch.float32), sizes(**{name: "* 4"}))


def float32_images(name: str) -> tuple[Precondition, ...]:
    """float32 of shape [n, 4, 8, 8]: what the convolutions and poolings of the examples take."""
    return (dtype_in(name, torch.float32), sizes(**{name: "n 4 8 8"}))
