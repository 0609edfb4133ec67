"""The reference of a program: the right value of each element, and the error bound that legal rounding explains."""

from __future__ import annotations

import dataclasses
from typing import Any

import torch

from eqfuzz.oracle.observe.observation import CallObservation
from eqfuzz.oracle.reference.rounding_model import HALVES, smallest
from eqfuzz.oracle.thresholds import THRESHOLDS


@dataclasses.dataclass(frozen=True)
class LeafReference:
    """One leaf's reference. Tensors have the leaf's shape.

    Attributes:
        value: The clean result (float64, complex128, or the exact integers; a Python value as it is).
        bound: The error bound T, in float64. It and the next three are None for a leaf that is exact throughout.
        exact: The elements that no float arithmetic reached.
        unstable: The elements that noise alone can change much.
        observed_classes: Bit 2**c is set where some run gave class c (``classes``).
        jumped: The elements that came out of a jump such as ``floor`` and are not exact; None where there are none.
        lowest: The least result of all runs, for ``jumped`` elements.
        highest: The greatest result of all runs, for ``jumped`` elements.
        rerun: What the program gave in its own dtype while it was measured.
        unknown: The reason why nothing is known of the leaf; empty otherwise.
    """

    value: Any
    bound: torch.Tensor | None = None
    exact: torch.Tensor | None = None
    unstable: torch.Tensor | None = None
    observed_classes: torch.Tensor | None = None
    jumped: torch.Tensor | None = None
    lowest: torch.Tensor | None = None
    highest: torch.Tensor | None = None
    rerun: torch.Tensor | None = None
    unknown: str = ""


@dataclasses.dataclass(frozen=True)
class Reference:
    """The references of all leaves, in the order of an observation of the same program.

    Attributes:
        calls: One per call; leaves are ``LeafReference``. A call that raised has none.
        data_dependent: Where rounding could change control flow or a shape; empty where it cannot. Otherwise every
            difference is inconclusive.
        unknown: Where rounded numbers could not be followed; empty where they were. Otherwise every difference is
            inconclusive.
        unshadowed_operators: How many operators had no float64 form.
        narrowest: The least precise float dtype that was computed in.
    """

    calls: list[CallObservation]
    data_dependent: str = ""
    unknown: str = ""
    unshadowed_operators: int = 0
    narrowest: torch.dtype | None = None


def leaf_reference(rows: torch.Tensor, dtype: torch.dtype, *, jumped: bool = False) -> LeafReference:
    """The reference of a leaf of dtype ``dtype`` from ``rows``, shape (samples + 1, *leaf shape); row 0 is clean.

    ``jumped``: it is the result of an operator such as ``floor``.
    """
    clean = rows[0].clone()
    agree = ((rows[1:] == rows[:1]) | ((rows[1:] != rows[1:]) & (rows[:1] != rows[:1]))).all(0)
    if not dtype.is_floating_point and not dtype.is_complex:
        finite_only = torch.ones(clean.shape, dtype=torch.int8)
        return LeafReference(clean, torch.zeros(clean.shape, dtype=torch.float64), agree, ~agree, finite_only)
    info = torch.finfo(dtype)
    finite = torch.isfinite(rows)
    size = clean.abs()
    deviation = (rows[1:] - rows[:1]).abs()
    bound = deviation.masked_fill(~(finite[1:] & finite[:1]), 0.0).amax(0)
    slack = THRESHOLDS.bound_slack(half=dtype in HALVES)
    bound = bound + torch.where(finite[0], slack * info.eps * size, 0.0)
    row_classes = classes(rows)
    same_class = (row_classes[1:] == row_classes[:1]).all(0)
    observed_classes = torch.stack([(row_classes == number).any(0) * 2**number for number in range(4)]).sum(0)
    relative = max(THRESHOLDS.unstable_relative, THRESHOLDS.unstable_epsilons * info.eps)
    much = bound > relative * size + THRESHOLDS.unstable_floor * smallest(dtype)
    reference = LeafReference(clean, bound, agree, (~agree) & (much | ~same_class), observed_classes)
    finite_jump = ~agree & finite.all(0)
    if not jumped or dtype.is_complex or not bool(finite_jump.any()):
        return reference
    return dataclasses.replace(reference, jumped=finite_jump, lowest=rows.amin(0), highest=rows.amax(0))


def classes(values: torch.Tensor) -> torch.Tensor:
    """The class of each element: 0 finite, 1 +inf, 2 -inf, 3 NaN. Complex: 0 if both parts are finite, else 3."""
    if not values.is_floating_point() and not values.is_complex():
        return torch.zeros(values.shape, dtype=torch.int8)
    if values.is_complex():
        return torch.isfinite(values).logical_not().to(torch.int8) * 3
    return (
        torch.isposinf(values).to(torch.int8)
        + 2 * torch.isneginf(values).to(torch.int8)
        + 3 * torch.isnan(values).to(torch.int8)
    )
