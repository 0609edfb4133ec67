"""Comparison of two values of one leaf: they agree, differ, or the reference cannot decide; with the worst element.

The numbers that decide are in ``eqfuzz.oracle.thresholds``.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import torch

from eqfuzz.oracle.compare.error_map import ErrorMap, error_map
from eqfuzz.oracle.observe.leaf_values import (
    as_tensor,
    distance_between,
    equal_elements,
    identical,
    plain,
    widened,
)
from eqfuzz.oracle.reference.reference import LeafReference, classes
from eqfuzz.oracle.reference.rounding_model import HALVES
from eqfuzz.oracle.thresholds import THRESHOLDS

OTHER_PATH = "the reference run gives another type or shape than the eager run"


@dataclasses.dataclass(frozen=True)
class Difference:
    """How two values of one leaf differ, at the worst element.

    Attributes:
        index: The element; None where it is no single one.
        first: Its first value, a Python scalar or a string.
        second: Its second value.
        reference: Its value in higher precision; None where there is none.
        allowed: The largest distance from ``reference``, or between the two, that would have been accepted.
        wrong: Elements that differ by more than is allowed.
        elements: All elements of the leaf.
        unstable: Elements that rounding alone can change much.
        inconclusive: Why the reference cannot decide; empty where the difference is an error.
        error_map: Where it differs; None where there is nothing to add.
    """

    index: tuple[int, ...] | None
    first: Any
    second: Any
    reference: Any = None
    allowed: float | None = None
    wrong: int = 1
    elements: int = 1
    unstable: int = 0
    inconclusive: str = ""
    error_map: ErrorMap | None = None

    def describe(self, names: tuple[str, str]) -> str:
        """The values in one line; ``names`` are those of the two sides."""
        values = f"{names[0]} gives {_short(self.first)} and {names[1]} gives {_short(self.second)}"
        if self.inconclusive:
            return f"{values}, but {self.inconclusive}"
        if self.reference is not None:
            values += f"; reference {_short(self.reference)}, allowed distance {self.allowed or 0.0:.3g}"
        if self.index is None:
            return values
        if self.elements == 1:
            return f"{values}; its only element is wrong"
        return f"{values}; {self.wrong} of {self.elements} elements {'is' if self.wrong == 1 else 'are'} wrong"


@dataclasses.dataclass
class _Elements:
    """The comparison of each element, as tensors of the leaf's shape.

    ``allowed`` is the largest distance from the reference that is accepted, ``equal`` marks the elements in which the
    two values agree. No element is both ``wrong`` and ``unstable``.
    """

    equal: torch.Tensor
    wrong: torch.Tensor
    unstable: torch.Tensor
    allowed: torch.Tensor


def against_reference(eager: Any, compiled: Any, reference: LeafReference | None, reason: str) -> Difference | None:
    """Compare ``compiled`` with the measured error bound of ``reference``; None where it agrees.

    Metadata must be equal. An element that equals eager's is right. ``reason``: why there is no reference, or empty.
    """
    if identical(eager, compiled, signed_zero=False):
        return None
    first, second = as_tensor(eager), as_tensor(compiled)
    if first is None or second is None:
        return Difference(None, plain(eager), plain(compiled), allowed=0.0)
    equal = equal_elements(first, second, signed_zero=False)
    why = reason or ("" if reference is None else reference.unknown)
    target = None if reference is None else as_tensor(reference.value)
    if reference is not None and not why and (target is None or target.shape != first.shape):
        why = OTHER_PATH
    if why or reference is None or target is None:
        return _without_reference(first, second, equal, why)
    if reference.bound is None:
        target = target.to(first.dtype)
        return _worst_difference(first, second, target, _exact_elements(first, second, equal, target))
    elements = _bounded_elements(first, second, equal, target, reference)
    target = _hold_to_eager(first, second, target, reference, elements)
    return _worst_difference(first, second, target, elements)


def between_two(
    first: Any, second: Any, left: LeafReference | None, right: LeafReference | None, reason: str
) -> Difference | None:
    """Compare two eager runs of equal programs, each of which may deviate from its own reference."""
    if identical(first, second, signed_zero=False):
        return None
    one, other = as_tensor(first), as_tensor(second)
    if one is None or other is None:
        return Difference(None, plain(first), plain(second), allowed=0.0)
    equal = equal_elements(one, other, signed_zero=False)
    why = reason
    for reference in (left, right):
        why = why or ("there is no reference" if reference is None else reference.unknown)
        if not why and reference is not None and getattr(as_tensor(reference.value), "shape", None) != one.shape:
            why = OTHER_PATH
    if why or left is None or right is None:
        return _without_reference(one, other, equal, why or "there is no reference")
    zeros = torch.zeros(one.shape, dtype=torch.float64)
    bounds = [zeros if reference.bound is None else reference.bound for reference in (left, right)]
    unstable = torch.zeros(one.shape, dtype=torch.bool)
    for reference in (left, right):
        if reference.unstable is not None:
            unstable |= reference.unstable
    factor = THRESHOLDS.eager_pair_factor_half if one.dtype in HALVES else THRESHOLDS.bound_factor
    allowed = factor * (bounds[0] + bounds[1])
    wrong = ~equal & ~unstable & ~(distance_between(one, other) <= allowed)
    return _worst_difference(one, other, one, _Elements(equal, wrong, unstable, allowed))


def zero_sign_difference(first: Any, second: Any) -> Difference:
    """The element in which two leaves of equal values have zeros of different sign."""
    one, other = as_tensor(first), as_tensor(second)
    if one is None or other is None:
        return Difference(None, plain(first), plain(second), allowed=0.0)
    differs = ~equal_elements(one, other, signed_zero=True)
    zeros = torch.zeros(one.shape, dtype=torch.float64)
    index = _worst_index(one, other, zeros, differs)
    difference = _difference_at(index, one, other, one, zeros, int(differs.sum()), 0, "")
    return dataclasses.replace(difference, reference=None)


def _exact_elements(
    eager: torch.Tensor, compiled: torch.Tensor, equal: torch.Tensor, target: torch.Tensor
) -> _Elements:
    """For a leaf without rounding, the reference's value is required exactly wherever eager has it."""
    compiled_is_right = equal_elements(compiled, target, signed_zero=False)
    eager_is_right = equal_elements(eager, target, signed_zero=False)
    wrong = ~equal & ~compiled_is_right & eager_is_right
    zeros = torch.zeros(eager.shape, dtype=torch.float64)
    return _Elements(equal, wrong, ~equal & ~eager_is_right, zeros)


def _bounded_elements(
    eager: torch.Tensor, compiled: torch.Tensor, equal: torch.Tensor, target: torch.Tensor, reference: LeafReference
) -> _Elements:
    """Of a leaf with an error bound. Elements that no rounding reached are compared exactly."""
    assert reference.bound is not None and reference.exact is not None and reference.unstable is not None
    exact, bound = reference.exact, reference.bound
    compiled_is_right = equal_elements(widened(compiled), widened(target), signed_zero=False)
    eager_is_right = equal_elements(widened(eager), widened(target), signed_zero=False)
    # Where eager itself misses an exact value the noise model has failed: nothing can be decided there.
    unstable = reference.unstable | (exact & ~equal & ~compiled_is_right & ~eager_is_right)
    wrong_exact = exact & ~equal & ~compiled_is_right & eager_is_right & ~unstable
    allowed = (THRESHOLDS.bound_factor * bound).masked_fill(exact, 0.0)
    if not (eager.dtype.is_floating_point or eager.dtype.is_complex):
        return _Elements(equal, wrong_exact, unstable, allowed)

    eager_class, compiled_class, target_class = (classes(widened(value)) for value in (eager, compiled, target))
    finite = (eager_class == 0) & (compiled_class == 0) & (target_class == 0) & ~exact
    distance, eager_distance = distance_between(compiled, target), distance_between(eager, target)
    less_accurate = finite & (distance > THRESHOLDS.eager_ratio * eager_distance)
    stable = ~unstable

    beyond_bound = less_accurate & (distance > allowed)
    outlier, least = _outlier(distance, eager_distance, bound, finite & stable, half=eager.dtype in HALVES)
    outlier &= less_accurate
    allowed = torch.where(outlier, torch.minimum(allowed, least * bound), allowed)
    other_class = ~exact & (compiled_class != target_class) & (eager_class == target_class)
    wrong_stable = stable & (beyond_bound | outlier | other_class)

    # Rounding can change an unstable element, but not to a class or as far as no noisy run did.
    assert reference.observed_classes is not None
    is_smooth = bound < THRESHOLDS.smooth_ratio * distance_between(target, torch.zeros_like(target))
    reach = torch.where(is_smooth, THRESHOLDS.unstable_bound, THRESHOLDS.unstable_bound_large) * bound
    unobserved_class = (
        ~exact
        & ~_is_observed(compiled_class, reference.observed_classes)
        & _is_observed(eager_class, reference.observed_classes)
    )
    wrong_unstable = unstable & (unobserved_class | (less_accurate & (distance > reach)))

    wrong = wrong_exact | (~equal & (wrong_stable | wrong_unstable))
    all_classes_differ = (
        (eager_class != target_class) & (compiled_class != eager_class) & (compiled_class != target_class)
    )
    unstable = (unstable | all_classes_differ) & ~wrong_unstable
    elements = _Elements(equal, wrong, unstable, allowed)
    if reference.jumped is not None:
        _bound_jumps(eager, compiled, reference, elements)
    elements.wrong = elements.wrong & ~elements.unstable
    return elements


def _is_observed(element_class: torch.Tensor, observed_classes: torch.Tensor) -> torch.Tensor:
    """Whether some noisy run gave the class (bit 2**class of ``observed_classes``)."""
    return (observed_classes >> element_class) % 2 == 1


def _bound_jumps(eager: torch.Tensor, compiled: torch.Tensor, reference: LeafReference, elements: _Elements) -> None:
    """Decide elements that came out of a jump: they must lie between the results of the noisy runs, as eager's do."""
    assert reference.jumped is not None and reference.lowest is not None and reference.highest is not None
    lowest, highest = reference.lowest, reference.highest

    def is_between(value: torch.Tensor) -> torch.Tensor:
        return (lowest <= value) & (value <= highest)

    decided = reference.jumped & is_between(widened(eager))
    beyond = decided & ~elements.equal & ~is_between(widened(compiled))
    elements.wrong = torch.where(decided, beyond, elements.wrong)
    elements.unstable = torch.where(decided, reference.jumped & ~beyond, elements.unstable)


def _outlier(
    distance: torch.Tensor, eager_distance: torch.Tensor, bound: torch.Tensor, judged: torch.Tensor, *, half: bool
) -> tuple[torch.Tensor, float]:
    """A mask of the one outlier, if there is one, and the distance, in units of ``bound``, beyond which it is one.

    The error bound leaves room for implementations that round worse than the model; those do so in more elements than
    one. The fewer other elements there are, the more room is left.
    """
    mask = torch.zeros(judged.numel(), dtype=torch.bool)
    judged = judged & (bound > 0)
    count = int(judged.sum())
    if not count:
        return mask.view(judged.shape), 0.0
    largest, places = torch.where(judged, distance / bound, 0.0).reshape(-1).topk(min(2, distance.numel()))
    of_eager = float(torch.where(judged, eager_distance / bound, 0.0).max())
    of_others = max([of_eager, *largest[1:].tolist()])
    least = max(THRESHOLDS.least_outlier(count, half=half), THRESHOLDS.outlier_ratio * of_others)
    mask[places[0]] = bool(largest[0] > least)
    return mask.view(judged.shape), least


def _hold_to_eager(
    eager: torch.Tensor,
    compiled: torch.Tensor,
    target: torch.Tensor,
    reference: LeafReference,
    elements: _Elements,
) -> torch.Tensor:
    """Compare with eager itself where the reference run computed something else; the target of each element.

    Autograd uses other formulas under a dispatch mode (the backward of a complex ``pinv``). Where the reference run, in
    the program's own dtype, differs from eager by half of the digits, its values say nothing about compiled code.
    """
    rerun = reference.rerun
    is_inexact = eager.is_floating_point() or eager.is_complex()
    if rerun is None or rerun.shape != eager.shape or rerun.dtype != eager.dtype or not is_inexact:
        return target
    assert reference.bound is not None and reference.unstable is not None
    half_of_the_digits = _largest(eager) * math.sqrt(torch.finfo(eager.dtype).eps)
    finite = torch.isfinite(eager) & torch.isfinite(rerun) & ~reference.unstable
    explained = (THRESHOLDS.bound_factor * reference.bound).clamp(min=half_of_the_digits)
    other_formula = finite & (distance_between(eager, rerun) > explained)
    if not bool(other_formula.any()):
        return target
    target = torch.where(other_formula, eager.to(target.dtype), target)
    room = elements.allowed.clamp(min=half_of_the_digits)
    elements.allowed = torch.where(other_formula, room, elements.allowed)
    elements.wrong |= other_formula & ~elements.equal & (distance_between(compiled, target) > elements.allowed)
    return target


def _largest(values: torch.Tensor) -> float:
    """The largest finite magnitude."""
    size = values.detach().abs().double()
    return float(size.masked_fill(~torch.isfinite(size), 0.0).max())


def _worst_difference(
    first: torch.Tensor, second: torch.Tensor, target: torch.Tensor, elements: _Elements
) -> Difference | None:
    """The element farthest beyond what is allowed; None where no element is wrong and few are unstable."""
    total = max(first.numel(), 1)
    wrong, unstable = int(elements.wrong.sum()), int(elements.unstable.sum())
    # A difference within the bound is explained by noise, however large the bound is compared to the value.
    within = (distance_between(target, second) <= elements.allowed) & (classes(widened(second)) == 0)
    suspicious = elements.unstable & ~elements.equal & ~within
    if unstable > THRESHOLDS.unstable_share * total and bool(suspicious.any()):
        index = _worst_index(first, second, elements.allowed, suspicious)
        why = f"{unstable} of {total} elements are unstable: rounding alone can change them"
        return _difference_at(index, first, second, target, elements.allowed, wrong, unstable, why)
    if not wrong:
        return None
    index = _worst_index(target, second, elements.allowed, elements.wrong)
    difference = _difference_at(index, first, second, target, elements.allowed, wrong, unstable, "")
    places = error_map(elements.wrong, distance_between(target, second), elements.allowed)
    return dataclasses.replace(difference, error_map=places)


def _without_reference(first: torch.Tensor, second: torch.Tensor, equal: torch.Tensor, why: str) -> Difference:
    """The largest difference between the two; inconclusive for the reason ``why``, if any."""
    zeros = torch.zeros(first.shape, dtype=torch.float64)
    index = _worst_index(first, second, zeros, ~equal)
    difference = _difference_at(index, first, second, first, zeros, int((~equal).sum()), 0, why)
    places = error_map(~equal, zeros, zeros)
    return dataclasses.replace(difference, reference=None, allowed=None, error_map=places)


def _worst_index(
    first: torch.Tensor, second: torch.Tensor, allowed: torch.Tensor, among: torch.Tensor
) -> tuple[int, ...]:
    distance = distance_between(first, second).nan_to_num(float("inf"), float("inf"), float("inf"))
    score = (distance - allowed).masked_fill(~among, float("-inf"))
    flat = int(score.reshape(-1).argmax())
    return tuple(int(part) for part in np.unravel_index(flat, tuple(first.shape))) if first.dim() else ()


def _difference_at(
    index: tuple[int, ...],
    first: torch.Tensor,
    second: torch.Tensor,
    target: torch.Tensor,
    allowed: torch.Tensor,
    wrong: int,
    unstable: int,
    why: str,
) -> Difference:
    return Difference(
        index=index,
        first=plain(first[index].item()),
        second=plain(second[index].item()),
        reference=plain(target[index].item()),
        allowed=float(allowed[index]),
        wrong=wrong,
        elements=first.numel(),
        unstable=unstable,
        inconclusive=why,
    )


def _short(value: Any) -> str:
    return f"{value:.9g}" if isinstance(value, float) else str(value)[:80]
