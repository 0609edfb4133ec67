"""Two values of one leaf: the same, wrong, or beyond what the reference can decide, with the worst element."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import torch

from eqfuzz.oracle.observe.leaves import is_tensor_like
from eqfuzz.oracle.observe.readability import Unreadable
from eqfuzz.oracle.reference.reference import LeafReference, classes
from eqfuzz.oracle.reference.rounding_model import HALVES

_TOO_UNSTABLE = 0.2
_TIMES_EAGER = 3.0
FACTOR = 4.0
"""c: how many measured bounds away from the reference is wrong."""
_ALONE = 2.0
_ALONE_IN_HALVES = 1.3
_MORE_IN_FEW = 1.0
_CROWD = 8
_TIMES_OTHERS = 2.0
_UNHEARD = 8.0
_SMOOTH = 0.1


@dataclasses.dataclass(frozen=True)
class Difference:
    """How two leaves part. ``unsure`` says in words why the reference cannot decide; empty means really wrong.

    ``allowed`` is the largest distance from the reference (or between the two) that would have passed at ``index``.
    """

    index: tuple[int, ...] | None
    first: Any
    second: Any
    reference: Any = None
    allowed: float | None = None
    wrong: int = 1
    elements: int = 1
    unstable: int = 0
    unsure: str = ""


def metadata_difference(first: Any, second: Any, *, strict: bool) -> str:
    """What differs besides values, in words; "" when nothing. ``strict`` adds requires_grad; strides are apart."""
    if not (isinstance(first, torch.Tensor) and isinstance(second, torch.Tensor)):
        return _loose_metadata(first, second)
    for name in ("dtype", "shape", "device"):
        left, right = getattr(first, name), getattr(second, name)
        if left != right:
            return f"{name} is {_plain(left)} in the first and {_plain(right)} in the second"
    if not strict:
        return ""
    if first.requires_grad != second.requires_grad:
        return f"requires_grad is {first.requires_grad} in the first and {second.requires_grad} in the second"
    return ""


def strides_difference(first: Any, second: Any) -> str:
    """How the strides of two tensors of one shape differ, in words; "" where they do not, or are of no consequence."""
    if not (isinstance(first, torch.Tensor) and isinstance(second, torch.Tensor)):
        return ""
    if first.numel() and _strides(first) != _strides(second):
        return f"stride is {first.stride()} in the first and {second.stride()} in the second"
    return ""


def identical(first: Any, second: Any, *, signed_zero: bool) -> bool:
    """Equal in every element; NaN equals NaN whatever its payload. Shapes and dtypes must agree."""
    if is_tensor_like(first) and is_tensor_like(second):
        left, right = as_tensor(first), as_tensor(second)
        if left is None or right is None:
            return bool(np.array_equal(np.asarray(first), np.asarray(second)))
        if left.dtype != right.dtype or left.shape != right.shape:
            return False
        return bool(_equal_elements(left, right, signed_zero=signed_zero).all())
    if is_tensor_like(first) or is_tensor_like(second):
        return _unused(first, second)
    if _is_number(first) and _is_number(second):
        left, right = torch.tensor(first), torch.tensor(second)
        return left.dtype == right.dtype and bool(_equal_elements(left, right, signed_zero=signed_zero).all())
    return type(first) is type(second) and bool(first == second)


def against_reference(eager: Any, compiled: Any, reference: LeafReference | None, reason: str) -> Difference | None:
    """Judge ``compiled`` by the measured bound; None when it agrees. ``reason`` says why there is no reference.

    Metadata must have been found equal. Equal to eager is right at once; else an element is wrong when it lies beyond
    c·T from the reference and more than three times farther from it than eager.
    """
    if identical(eager, compiled, signed_zero=False):
        return None
    first, second = as_tensor(eager), as_tensor(compiled)
    if first is None or second is None:
        return Difference(None, _plain(eager), _plain(compiled), allowed=0.0)
    same = _equal_elements(first, second, signed_zero=False)
    why = reason or ("" if reference is None else reference.opaque)
    target = None if reference is None else as_tensor(reference.value)
    if reference is not None and not why and (target is None or target.shape != first.shape):
        why = "the reference took another path than the eager run"
    if why or reference is None or target is None:
        return _first_difference(first, second, same, why)
    if reference.bound is None:
        target = target.to(first.dtype)
        right = _equal_elements(second, target, signed_zero=False)
        trusted = _equal_elements(first, target, signed_zero=False)
        zeros = torch.zeros(first.shape, dtype=torch.float64)
        return _summed(first, second, target, zeros, ~same & ~right & trusted, ~same & ~trusted, same)
    wrong, unstable, allowed = _judge_elements(first, second, same, target, reference)
    parted = _parted(first, reference)
    if bool(parted.any()):
        # Autograd has formulas of its own for what is watched: there eager itself is what compiled code must give.
        target = torch.where(parted, first.to(target.dtype), target)
        allowed = torch.where(parted, torch.maximum(allowed, _half_of_the_digits(first)), allowed)
        wrong |= parted & ~same & (distance_between(second, target) > allowed)
    return _summed(first, second, target, allowed, wrong, unstable, same)


def between_two(
    first: Any, second: Any, left: LeafReference | None, right: LeafReference | None, reason: str
) -> Difference | None:
    """Judge two eager runs of equal programs: each may lie c·T from its own reference."""
    if identical(first, second, signed_zero=False):
        return None
    one, other = as_tensor(first), as_tensor(second)
    if one is None or other is None:
        return Difference(None, _plain(first), _plain(second), allowed=0.0)
    same = _equal_elements(one, other, signed_zero=False)
    why = reason
    for reference in (left, right):
        why = why or ("no reference" if reference is None else reference.opaque)
        if not why and reference is not None and getattr(as_tensor(reference.value), "shape", None) != one.shape:
            why = "the reference took another path than the eager run"
    if why or left is None or right is None:
        return _first_difference(one, other, same, why or "no reference")
    zeros = torch.zeros(one.shape, dtype=torch.float64)
    bounds = [zeros if reference.bound is None else reference.bound for reference in (left, right)]
    unstable = torch.zeros(one.shape, dtype=torch.bool)
    for reference in (left, right):
        if reference.unstable is not None:
            unstable |= reference.unstable
    allowed = _factor_of_two_eager_runs(one.dtype) * (bounds[0] + bounds[1])
    distance = distance_between(one, other)
    wrong = ~same & ~unstable & ~(distance <= allowed)
    return _summed(one, other, one, allowed, wrong, unstable, same)


def zero_sign_difference(first: Any, second: Any) -> Difference:
    """The place where two leaves that are equal in value have zeros of different sign."""
    one, other = as_tensor(first), as_tensor(second)
    if one is None or other is None:
        return Difference(None, _plain(first), _plain(second), allowed=0.0)
    differs = ~_equal_elements(one, other, signed_zero=True)
    zeros = torch.zeros(one.shape, dtype=torch.float64)
    where = _worst(one, other, zeros, differs)
    found = _at(one, other, one, zeros, where, int(differs.sum()), 0, "")
    return dataclasses.replace(found, reference=None)


def _parted(eager: torch.Tensor, reference: LeafReference) -> torch.Tensor:
    """Elements of which half of the digits differ between eager and the run that was measured; rounding is less."""
    rerun = reference.rerun
    nowhere = torch.zeros(eager.shape, dtype=torch.bool)
    is_inexact = eager.is_floating_point() or eager.is_complex()
    if rerun is None or rerun.shape != eager.shape or rerun.dtype != eager.dtype or not is_inexact:
        return nowhere
    assert reference.bound is not None and reference.unstable is not None
    finite = torch.isfinite(eager) & torch.isfinite(rerun) & ~reference.unstable
    far = distance_between(eager, rerun) > torch.maximum(FACTOR * reference.bound, _half_of_the_digits(eager))
    return finite & far


def _half_of_the_digits(values: torch.Tensor) -> torch.Tensor:
    """The distance at which the largest of the values has lost half of its digits."""
    size = values.detach().abs().double()
    largest = size.masked_fill(~torch.isfinite(size), 0.0).max()
    return torch.full(values.shape, float(largest) * math.sqrt(torch.finfo(values.dtype).eps), dtype=torch.float64)


def _judge_elements(
    eager: torch.Tensor, compiled: torch.Tensor, same: torch.Tensor, target: torch.Tensor, reference: LeafReference
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    assert reference.bound is not None and reference.exact is not None
    assert reference.unstable is not None
    exact, unstable = reference.exact, reference.unstable
    right = _equal_elements(_wide(compiled), _wide(target), signed_zero=False)
    trusted = _equal_elements(_wide(eager), _wide(target), signed_zero=False)
    # Where eager itself misses an exact value the noise model has failed: nothing can be said there.
    unstable = unstable | (exact & ~same & ~right & ~trusted)
    wrong_exact = exact & ~same & ~right & trusted & ~unstable
    allowed = (FACTOR * reference.bound).masked_fill(exact, 0.0)
    if not (eager.dtype.is_floating_point or eager.dtype.is_complex):
        return wrong_exact, unstable, allowed
    of_eager, of_compiled, of_target = (classes(_wide(value)) for value in (eager, compiled, target))
    finite = (of_eager == 0) & (of_compiled == 0) & (of_target == 0) & ~exact
    far, near = distance_between(compiled, target), distance_between(eager, target)
    farther = finite & (far > _TIMES_EAGER * near)
    steady = ~unstable
    beyond = farther & (far > allowed)
    least = _ALONE_IN_HALVES if eager.dtype in HALVES else _ALONE
    alone, times = _alone(far, near, reference.bound, finite & steady, least)
    alone &= farther
    allowed = torch.where(alone, torch.minimum(allowed, times * reference.bound), allowed)
    class_wrong = ~exact & (of_compiled != of_target) & (of_eager == of_target)
    # Noise can flip the element, but what came out is like nothing that any noisy run gave.
    smooth = reference.bound < _SMOOTH * distance_between(target, torch.zeros_like(target))
    room = torch.where(smooth, _UNHEARD, 2 * _UNHEARD) * reference.bound
    assert reference.heard is not None
    novel = ~exact & ((reference.heard >> of_compiled) % 2 == 0) & ((reference.heard >> of_eager) % 2 == 1)
    unheard = unstable & (novel | (farther & (far > room)))
    wrong = wrong_exact | (~same & ((steady & (beyond | alone | class_wrong)) | unheard))
    unstable = unstable | ((of_eager != of_target) & (of_compiled != of_eager) & (of_compiled != of_target))
    unstable = unstable & ~unheard
    if reference.whole is not None:
        wrong, unstable = _judge_jumps(eager, compiled, same, reference, wrong, unstable)
    return wrong & ~unstable, unstable, allowed


def _judge_jumps(
    eager: torch.Tensor,
    compiled: torch.Tensor,
    same: torch.Tensor,
    reference: LeafReference,
    wrong: torch.Tensor,
    unstable: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Numbers that jumped: right is what lies between two that noisy runs gave, by no factor more."""
    assert reference.whole is not None and reference.least is not None and reference.most is not None
    given, came = _wide(eager), _wide(compiled)
    trusted = reference.whole & (reference.least <= given) & (given <= reference.most)
    beyond = trusted & ~same & ~((reference.least <= came) & (came <= reference.most))
    return torch.where(trusted, beyond, wrong), torch.where(trusted, reference.whole & ~beyond, unstable)


def _alone(
    far: torch.Tensor, near: torch.Tensor, bound: torch.Tensor, judged: torch.Tensor, least: float
) -> tuple[torch.Tensor, float]:
    """The one element that strays from the reference, measured by its bound, much farther than any other of the leaf.

    c leaves room for implementations that round worse than the model says; they do so in more elements than one. The
    fewer others there are, the more room is left; compiled halves stray least, since fused code keeps a wider type
    between operators. With it comes how many bounds away the element could have been.
    """
    found = torch.zeros(judged.numel(), dtype=torch.bool)
    judged = judged & (bound > 0)
    count = int(judged.sum())
    if not count:
        return found.view(judged.shape), 0.0
    highest, places = torch.where(judged, far / bound, 0.0).reshape(-1).topk(min(2, far.numel()))
    usual = float(torch.where(judged, near / bound, 0.0).max())
    usual = max([usual, *highest[1:].tolist()])
    times = max(least if count >= _CROWD else least + _MORE_IN_FEW, _TIMES_OTHERS * usual)
    found[places[0]] = bool(highest[0] > times)
    return found.view(judged.shape), times


def _summed(
    first: torch.Tensor,
    second: torch.Tensor,
    target: torch.Tensor,
    allowed: torch.Tensor,
    wrong: torch.Tensor,
    unstable: torch.Tensor,
    same: torch.Tensor,
) -> Difference | None:
    """One difference out of the element masks: the element farthest beyond what is allowed."""
    total = max(first.numel(), 1)
    loose = int(unstable.sum())
    # A difference within the bound is what the noise predicts, however large the bound is beside the value.
    suspicious = unstable & ~same & ~((distance_between(target, second) <= allowed) & (classes(_wide(second)) == 0))
    if loose > _TOO_UNSTABLE * total and bool(suspicious.any()):
        where = _worst(first, second, allowed, suspicious)
        why = f"{loose} of {total} elements can be flipped by rounding alone"
        return _at(first, second, target, allowed, where, int(wrong.sum()), loose, why)
    if not bool(wrong.any()):
        return None
    return _at(first, second, target, allowed, _worst(target, second, allowed, wrong), int(wrong.sum()), loose, "")


def _worst(first: torch.Tensor, second: torch.Tensor, allowed: torch.Tensor, among: torch.Tensor) -> tuple[int, ...]:
    distance = distance_between(first, second).nan_to_num(float("inf"), float("inf"), float("inf"))
    score = (distance - allowed).masked_fill(~among, float("-inf"))
    flat = int(score.reshape(-1).argmax())
    return tuple(int(part) for part in np.unravel_index(flat, tuple(first.shape))) if first.dim() else ()


def _at(
    first: torch.Tensor,
    second: torch.Tensor,
    target: torch.Tensor,
    allowed: torch.Tensor,
    where: tuple[int, ...],
    wrong: int,
    unstable: int,
    unsure: str,
) -> Difference:
    return Difference(
        index=where,
        first=_plain(first[where].item()),
        second=_plain(second[where].item()),
        reference=_plain(target[where].item()),
        allowed=float(allowed[where]),
        wrong=wrong,
        elements=first.numel(),
        unstable=unstable,
        unsure=unsure,
    )


def _first_difference(first: torch.Tensor, second: torch.Tensor, same: torch.Tensor, why: str) -> Difference:
    zeros = torch.zeros(first.shape, dtype=torch.float64)
    where = _worst(first, second, zeros, ~same)
    count = int((~same).sum())
    found = _at(first, second, first, zeros, where, count, 0, why)
    return dataclasses.replace(found, reference=None, allowed=None)


def _equal_elements(first: torch.Tensor, second: torch.Tensor, *, signed_zero: bool) -> torch.Tensor:
    if first.is_complex():
        parts = _equal_elements(torch.view_as_real(first), torch.view_as_real(second), signed_zero=signed_zero)
        return parts.all(-1)
    first, second = _comparable(first), _comparable(second)
    equal = first == second
    if not first.is_floating_point():
        return equal
    if signed_zero:
        equal = equal & (torch.signbit(first) == torch.signbit(second))
    return equal | (torch.isnan(first) & torch.isnan(second))


def _comparable(value: torch.Tensor) -> torch.Tensor:
    """Comparison kernels do not exist for 8-bit floats; float32 holds them exactly."""
    return value.to(torch.float32) if value.is_floating_point() and value.element_size() == 1 else value


def _wide(value: torch.Tensor) -> torch.Tensor:
    if value.is_complex():
        return value.to(torch.complex128)
    return value.to(torch.float64) if value.is_floating_point() else value


def distance_between(first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
    if first.is_complex() or second.is_complex():
        return (first.to(torch.complex128) - second.to(torch.complex128)).abs()
    return (first.to(torch.float64) - second.to(torch.float64)).abs()


def _factor_of_two_eager_runs(dtype: torch.dtype) -> float:
    return 8.0 if dtype in HALVES else FACTOR


def _strides(value: torch.Tensor) -> list[int]:
    return [stride for size, stride in zip(value.shape, value.stride(), strict=True) if size > 1]


def _loose_metadata(first: Any, second: Any) -> str:
    if _unused(first, second) or (isinstance(first, Unreadable) and isinstance(second, Unreadable)):
        return ""
    left, right = _kind(first), _kind(second)
    return "" if left == right else f"type is {left} in the first and {right} in the second"


def _kind(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"ndarray of {value.dtype} with shape {value.shape}"
    if isinstance(value, Unreadable):
        return f"unreadable ({value.why})"
    return type(value).__name__


def _unused(first: Any, second: Any) -> bool:
    """No gradient and a gradient of zeros say the same."""
    if first is None and isinstance(second, torch.Tensor):
        return not bool(second.count_nonzero())
    if second is None and isinstance(first, torch.Tensor):
        return not bool(first.count_nonzero())
    return False


def _is_number(value: Any) -> bool:
    return isinstance(value, (float, complex)) and not isinstance(value, np.generic)


def as_tensor(value: Any) -> torch.Tensor | None:
    """The leaf as a detached CPU tensor; None for what is not numeric."""
    if isinstance(value, torch.Tensor):
        return value.detach().cpu()
    if isinstance(value, np.generic):
        value = np.asarray(value)
    if isinstance(value, np.ndarray):
        return (
            torch.from_numpy(np.ascontiguousarray(value).reshape(value.shape)) if value.dtype.kind in "biufc" else None
        )
    return torch.tensor(value, dtype=torch.float64) if isinstance(value, float) else None


def _plain(value: Any) -> Any:
    """A Python scalar or string, as evidence needs."""
    return value if isinstance(value, (bool, int, float, str, type(None))) else str(value)
