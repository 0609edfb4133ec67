"""The reference: what a program should give, element by element, and how far legal rounding may lead away from it."""

from __future__ import annotations

import dataclasses
from typing import Any

import torch

from eqfuzz.oracle.observe.observation import CallObservation
from eqfuzz.oracle.reference.rounding_model import smallest

_UNSTABLE = 1e-2
_UNSTABLE_FLOOR = 100
_UNSTABLE_EPS = 8
_SLACK = {torch.float16: 0.25, torch.bfloat16: 0.25}
"""In epsilons, what T has beyond the noise: kernels of halves compute in float32 and round once."""


@dataclasses.dataclass(frozen=True)
class LeafReference:
    """One leaf's reference.

    ``value`` is the clean result (float64, complex128, or the exact integers; a Python value as it is). ``bound`` is T,
    float64 of the same shape. ``exact`` marks elements that no float arithmetic reached, ``unstable`` those that noise
    alone can flip, and ``heard`` has bit 2**c set where some run gave class c (``classes``). All four are None for a
    leaf that is exact throughout. ``whole`` marks elements that came out of a jump such as ``floor``: they lie between
    ``least`` and ``most``. ``rerun`` is what the program gave in its own dtype while it was measured. ``opaque`` says
    why nothing is known.
    """

    value: Any
    bound: torch.Tensor | None = None
    exact: torch.Tensor | None = None
    unstable: torch.Tensor | None = None
    heard: torch.Tensor | None = None
    whole: torch.Tensor | None = None
    least: torch.Tensor | None = None
    most: torch.Tensor | None = None
    rerun: torch.Tensor | None = None
    opaque: str = ""


@dataclasses.dataclass(frozen=True)
class Reference:
    """The references of all leaves, in the order of an observation of the same program.

    ``steered`` (empty when not) says where noise could change control flow, a shape or an index count; ``opaque`` where
    rounded numbers left torch. Either makes every difference inconclusive. ``opaque_ops`` counts operators that had no
    float64 form; ``narrowest`` is the least precise float dtype that was computed in. ``raised`` calls carry no leaves.
    """

    calls: list[CallObservation]
    steered: str = ""
    opaque: str = ""
    opaque_ops: int = 0
    narrowest: torch.dtype | None = None


def leaf_reference(rows: torch.Tensor, dtype: torch.dtype, *, jumped: bool = False) -> LeafReference:
    """The reference from ``rows``, shape (samples + 1, *leaf shape), of a leaf whose real dtype is ``dtype``.

    ``jumped``: it came out of an operator such as ``floor``.
    """
    clean = rows[0].clone()
    agree = ((rows[1:] == rows[:1]) | ((rows[1:] != rows[1:]) & (rows[:1] != rows[:1]))).all(0)
    if not dtype.is_floating_point and not dtype.is_complex:
        heard = torch.ones(clean.shape, dtype=torch.int8)
        return LeafReference(clean, torch.zeros(clean.shape, dtype=torch.float64), agree, ~agree, heard)
    info = torch.finfo(dtype)
    finite = torch.isfinite(rows)
    size = clean.abs()
    deviation = (rows[1:] - rows[:1]).abs()
    bound = deviation.masked_fill(~(finite[1:] & finite[:1]), 0.0).amax(0)
    bound = bound + torch.where(finite[0], _SLACK.get(dtype, 1.0) * info.eps * size, 0.0)
    of_rows = classes(rows)
    same_class = (of_rows[1:] == of_rows[:1]).all(0)
    heard = torch.stack([(of_rows == number).any(0) * 2**number for number in range(4)]).sum(0)
    relative = max(_UNSTABLE, _UNSTABLE_EPS * info.eps)
    wild = bound > relative * size + _UNSTABLE_FLOOR * smallest(dtype)
    found = LeafReference(clean, bound, agree, (~agree) & (wild | ~same_class), heard)
    whole = ~agree & finite.all(0)
    if not jumped or dtype.is_complex or not bool(whole.any()):
        return found
    return dataclasses.replace(found, whole=whole, least=rows.amin(0), most=rows.amax(0))


def classes(values: torch.Tensor) -> torch.Tensor:
    """0 finite, 1 +inf, 2 -inf, 3 NaN; a complex number is 0 or, any part not being finite, 3."""
    if not values.is_floating_point() and not values.is_complex():
        return torch.zeros(values.shape, dtype=torch.int8)
    if values.is_complex():
        return torch.isfinite(values).logical_not().to(torch.int8) * 3
    return (
        torch.isposinf(values).to(torch.int8)
        + 2 * torch.isneginf(values).to(torch.int8)
        + 3 * torch.isnan(values).to(torch.int8)
    )
