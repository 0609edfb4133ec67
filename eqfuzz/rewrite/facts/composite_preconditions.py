"""Preconditions that are needed together; ``where=[…]`` takes them like single ones."""

from __future__ import annotations

from eqfuzz.rewrite.facts.preconditions import Precondition, moderate, same_dtype, unmutated, wide
from eqfuzz.rewrite.facts.shape_preconditions import contiguous, dense


def reassociable(*names: str, bound: float = 1e3) -> tuple[Precondition, ...]:
    """Floats of one dtype, at most ``bound`` in size: another order of evaluation differs by rounding alone.

    float16 is left out, because it overflows at 65504.
    """
    return (wide(*names), same_dtype(*names), moderate(*names, bound=bound))


def elementwise(*names: str, bound: float = 1e3) -> tuple[Precondition, ...]:
    """Reassociable and contiguous: the results of all pointwise formulas have the same strides."""
    return (*reassociable(*names, bound=bound), contiguous(*names))


def copyable(*names: str) -> tuple[Precondition, ...]:
    """A pointwise copy may stand for the tensor: it has the same strides, and no later write can tell them apart."""
    return (dense(*names), unmutated(*names))
