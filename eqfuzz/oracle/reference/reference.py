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

    def joined(self, other: LeafReference) -> LeafReference:
        """The reference from the noisy runs of both; this one becomes part of it, and is not to be used any more."""
        if self.unknown or other.bound is None:
            return other if other.unknown else self
        if other.unknown or self.bound is None:
            return other
        if self.bound.shape != other.bound.shape:
            return dataclasses.replace(self, unknown="its shape differs from run to run")
        assert self.exact is not None and other.exact is not None
        assert self.unstable is not None and other.unstable is not None
        assert self.observed_classes is not None and other.observed_classes is not None
        # In place: the references of a large model take more memory than its noisy runs.
        torch.maximum(self.bound, other.bound, out=self.bound)
        self.exact.logical_and_(other.exact)
        self.unstable.logical_or_(other.unstable)
        self.observed_classes.bitwise_or_(other.observed_classes)
        if self.jumped is None and other.jumped is None:
            return self
        jumped = [leaf.jumped for leaf in (self, other) if leaf.jumped is not None]
        return dataclasses.replace(
            self,
            jumped=torch.stack(jumped).any(0) & (self.observed_classes == 1),
            lowest=torch.minimum(*(leaf.value if leaf.lowest is None else leaf.lowest for leaf in (self, other))),
            highest=torch.maximum(*(leaf.value if leaf.highest is None else leaf.highest for leaf in (self, other))),
        )


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
        samples: How many noisy runs it comes from.
        together: How many of them fit in memory at once.
        leaves: The references in ``calls``, in the order in which they were made.
    """

    calls: list[CallObservation]
    data_dependent: str = ""
    unknown: str = ""
    unshadowed_operators: int = 0
    narrowest: torch.dtype | None = None
    samples: int = 0
    together: int = 0
    leaves: list[LeafReference] = dataclasses.field(default_factory=list)


def leaf_reference(rows: torch.Tensor, dtype: torch.dtype, *, jumped: bool = False) -> LeafReference:
    """The reference of a leaf of dtype ``dtype`` from ``rows``, shape (samples + 1, *leaf shape); row 0 is clean.

    ``jumped``: it is the result of an operator such as ``floor``.
    """
    clean = rows[0].clone()
    exact = torch.ones(clean.shape, dtype=torch.bool)
    if not dtype.is_floating_point and not dtype.is_complex:
        for row in rows[1:]:
            exact &= row == clean
        finite_only = torch.ones(clean.shape, dtype=torch.uint8)
        return LeafReference(clean, torch.zeros(clean.shape, dtype=torch.float64), exact, ~exact, finite_only)
    bound = torch.zeros(clean.shape, dtype=torch.float64)
    clean_class = classes(clean)
    observed_classes = _bit(clean_class)
    # Row by row: a tensor of all deviations would be as large as all rows.
    for row in rows[1:]:
        row_class = classes(row)
        observed_classes |= _bit(row_class)
        exact &= (row == clean) | ((row != row) & (clean != clean))
        deviation = (row - clean).abs()
        if bool((row_class | clean_class).any()):
            deviation.masked_fill_((row_class | clean_class) != 0, 0.0)
        torch.maximum(bound, deviation, out=bound)
    info = torch.finfo(dtype)
    slack = THRESHOLDS.bound_slack(half=dtype in HALVES)
    bound += (slack * info.eps * clean.abs()).masked_fill_(clean_class != 0, 0.0)
    relative = max(THRESHOLDS.unstable_relative, THRESHOLDS.unstable_epsilons * info.eps)
    floor = THRESHOLDS.unstable_floor * smallest(dtype)
    much = bound > relative * clean.abs() + floor
    unstable = ~exact & (much | (observed_classes != _bit(clean_class)))
    reference = LeafReference(clean, bound, exact, unstable, observed_classes)
    finite_jump = ~exact & (observed_classes == 1)
    if not jumped or dtype.is_complex or not bool(finite_jump.any()):
        return reference
    return dataclasses.replace(reference, jumped=finite_jump, lowest=rows.amin(0), highest=rows.amax(0))


def _bit(element_class: torch.Tensor) -> torch.Tensor:
    return torch.bitwise_left_shift(torch.ones_like(element_class, dtype=torch.uint8), element_class.to(torch.uint8))


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
