"""What must hold of both sides of a rule on given operands: run in eager, they are equal in the declared class."""

from __future__ import annotations

import copy
import dataclasses
import random
from collections.abc import Callable, Iterator
from typing import Any

import torch

from eqfuzz.program.load import reseed
from eqfuzz.rewrite.rules.exactness import Exactness
from eqfuzz.rewrite.rules.rule import Rule

Values = dict[str, Any]
"""Operands by parameter name."""

Run = Callable[[Values], Any]
"""What computes one side on operands."""

FACTOR = {Exactness.ULP: 48.0, Exactness.REAL: 4000.0}
"""How many measured rounding effects both sides may be apart; sums of up to 1,030 terms for ``real``."""


def disagreement(rule: Rule, left: Run, right: Run, values: Values, seed: int = 0) -> str | None:
    """How the sides differ on ``values``, in a few words, or None. Raises what the right side raises."""
    mine, theirs = copy.deepcopy(values), copy.deepcopy(values)
    reseed(seed)
    a = left(mine)
    reseed(seed)
    b = right(theirs)
    problem = difference(rule, a, b, values, left)
    if problem is not None:
        return problem
    if not any(precondition.allows_copies for precondition in rule.where):
        shared, now = _shares(a, mine), _shares(b, theirs)
        if shared != now:
            return f"shares memory with {_listed(now)}, not with {_listed(shared)}: needs the precondition `unmutated`"
    for name, value in mine.items():
        if isinstance(value, torch.Tensor) and not same_bits(value.detach(), theirs[name].detach()):
            return f"{name} was changed otherwise"
    return _compare_gradients(rule, (a, b), (mine, theirs), seed) if rule.gradients else None


def difference(rule: Rule, left: Any, right: Any, values: Values, run: Run) -> str | None:
    """How two results differ by the rule's class, or None; ``run`` computes the left one again, for its noise."""
    ours, theirs = list(_leaves(left)), list(_leaves(right))
    if [path for path, _ in ours] != [path for path, _ in theirs]:
        return f"{_shape(left)} became {_shape(right)}"
    for number, ((path, a), (_, b)) in enumerate(zip(ours, theirs, strict=True)):
        problem = _compare_leaf(_Sides(rule, values, run, number), a, b)
        if problem is not None:
            return f"{path}: {problem}" if path else problem
    return None


@dataclasses.dataclass(frozen=True)
class _Sides:
    """What the noise of one leaf of the left side is measured with."""

    rule: Rule
    values: Values
    run: Run
    leaf: int


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every tensor and plain value inside containers and objects, with the way to it, which names the types passed."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _leaves(item, f"{path}[{key!r}]")
    elif isinstance(value, (tuple, list)):
        for index, item in enumerate(value):
            yield from _leaves(item, f"{path}.{type(value).__name__}[{index}]")
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        yield from _leaves(vars(value), f"{path}.{type(value).__name__}")
    else:
        yield path, value


def _shares(result: Any, values: Values) -> set[str]:
    """The operands that a tensor of the result shares memory with."""
    return {
        name
        for _, leaf in _leaves(result)
        for name, value in values.items()
        if isinstance(leaf, torch.Tensor) and isinstance(value, torch.Tensor) and leaf.numel() and value.numel()
        if leaf.untyped_storage().data_ptr() == value.untyped_storage().data_ptr()
    }


def _listed(names: set[str]) -> str:
    return ", ".join(sorted(names)) or "none"


def _shape(value: Any) -> str:
    return f"{type(value).__name__} of {len(list(_leaves(value)))} values"


def _compare_leaf(sides: _Sides, left: Any, right: Any) -> str | None:
    rule = sides.rule
    if type(left) is not type(right):
        return f"{type(left).__name__} became {type(right).__name__}"
    if not isinstance(left, torch.Tensor):
        return None if left == right or (left != left and right != right) else f"{left!r} became {right!r}"
    for what in ("dtype", "shape", "requires_grad", "layout", "device"):
        a, b = getattr(left, what), getattr(right, what)
        if a != b:
            return f"{what} {a} became {b}"
    if not rule.layout and strides_that_matter(left) != strides_that_matter(right):
        return f"strides {left.stride()} became {right.stride()} for shape {tuple(left.shape)}"
    left, right = left.detach(), right.detach()
    if same_bits(left, right):
        return None
    if rule.exact is Exactness.BITWISE or not (left.is_floating_point() or left.is_complex()):
        return f"not bit for bit equal: {_first_difference(left, right)}"
    return _beyond_rounding(sides, left, right)


def strides_that_matter(tensor: torch.Tensor) -> list[int]:
    """The strides of dimensions with more than one element; none of an empty tensor."""
    if tensor.numel() == 0:
        return []
    return [stride for stride, size in zip(tensor.stride(), tensor.shape, strict=True) if size > 1]


def same_bits(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Equal elements, -0.0 apart from 0.0, NaN equal to NaN."""
    if a.is_complex():
        a, b = torch.view_as_real(a.resolve_conj()), torch.view_as_real(b.resolve_conj())
    if not a.is_floating_point():
        return torch.equal(a, b)
    equal = (a == b) & (torch.signbit(a) == torch.signbit(b)) | (torch.isnan(a) & torch.isnan(b))
    return bool(equal.all())


def _first_difference(a: torch.Tensor, b: torch.Tensor) -> str:
    if a.is_complex():
        a, b = torch.view_as_real(a.resolve_conj()), torch.view_as_real(b.resolve_conj())
    pairs = list(zip(a.reshape(-1).tolist(), b.reshape(-1).tolist(), strict=True))
    different = [p for p in pairs if repr(p[0]) != repr(p[1])]
    return f"{different[0][0]!r} became {different[0][1]!r} ({len(different)} of {len(pairs)})" if different else "?"


def _beyond_rounding(sides: _Sides, left: torch.Tensor, right: torch.Tensor) -> str | None:
    """Compare with the effect that one rounding of each operand has on the left side in float64."""
    if left.is_complex():
        left, right = torch.view_as_real(left.resolve_conj()), torch.view_as_real(right.resolve_conj())
    rule, info = sides.rule, torch.finfo(left.dtype)
    a, b = left.double(), right.double()
    allowed = (_noise(sides, info.eps, a) + info.eps * a.abs()) * FACTOR[rule.exact] + 4 * info.smallest_normal
    if rule.exact is Exactness.REAL:
        allowed = allowed + 200 * info.eps * _magnitude(sides.values, a)
    near_overflow = torch.maximum(a.abs().nan_to_num(info.max), b.abs().nan_to_num(info.max)) > info.max / 8
    close = ((a - b).abs() <= allowed) | (a == b) | (a.isnan() & b.isnan()) | (near_overflow & ~a.isnan() & ~b.isnan())
    if bool(close.all()):
        return None
    at = int((~close).reshape(-1).nonzero()[0])
    return (
        f"beyond {rule.exact}: {a.reshape(-1)[at].item()!r} became {b.reshape(-1)[at].item()!r}, "
        f"allowed {allowed.reshape(-1)[at].item():.3g} ({int((~close).sum())} of {close.numel()})"
    )


def _noise(sides: _Sides, eps: float, like: torch.Tensor) -> torch.Tensor:
    """The largest change of the left side in float64 when operands move by ``eps`` of their size; 0 if it has none."""
    generator = torch.Generator().manual_seed(7)

    def run(amount: float) -> torch.Tensor:
        moved = {}
        for name, value in sides.values.items():
            if isinstance(value, torch.Tensor) and value.is_floating_point():
                noise = torch.rand(value.shape, generator=generator, dtype=torch.float64) * 2 - 1
                value = value.detach().double() * (1 + amount * noise)
            elif isinstance(value, torch.Tensor) and value.is_complex():
                noise = torch.rand(value.shape, generator=generator, dtype=torch.float64) * 2 - 1
                value = value.detach().to(torch.complex128) * (1 + amount * noise)
            moved[name] = value
        result = list(_leaves(sides.run(moved)))[sides.leaf][1]
        return torch.view_as_real(result.resolve_conj()) if result.is_complex() else result

    try:
        base = run(0.0)
        if base.shape != like.shape or base.dtype is not torch.float64:
            return torch.zeros_like(like)
        spread = torch.stack([(run(eps) - base).abs() for _ in range(6)]).amax(0)
    except (RuntimeError, IndexError):  # the left side does not exist in float64, or takes another way there
        return torch.zeros_like(like)
    return spread.nan_to_num(0.0, 0.0, 0.0)


def _magnitude(values: dict[str, Any], result: torch.Tensor) -> float:
    sizes = [1.0]
    for value in (*values.values(), result):
        if isinstance(value, torch.Tensor) and value.numel() and (value.is_floating_point() or value.is_complex()):
            size = value.detach().abs().double()
            sizes.append(float(size[size.isfinite()].amax()) if bool(size.isfinite().any()) else 1.0)
    return max(sizes)


def _compare_gradients(rule: Rule, results: tuple[Any, Any], operands: tuple[Values, Values], seed: int) -> str | None:
    names = [n for n, v in operands[0].items() if isinstance(v, torch.Tensor) and v.requires_grad]
    pairs = [
        (a, b)
        for (_, a), (_, b) in zip(_leaves(results[0]), _leaves(results[1]), strict=True)
        if isinstance(a, torch.Tensor) and a.requires_grad
    ]
    if not names or not pairs:
        return None
    cotangents = [_cotangent(a, random.Random(seed)) for a, _ in pairs]
    ours, theirs = ([values[n] for n in names] for values in operands)
    try:
        lefts = torch.autograd.grad([a for a, _ in pairs], ours, cotangents, allow_unused=True)
    except (RuntimeError, NotImplementedError):  # eager has no derivative of the left side: nothing to be equal to
        return None
    rights = torch.autograd.grad([b for _, b in pairs], theirs, cotangents, allow_unused=True)
    for name, a, b in zip(names, lefts, rights, strict=True):
        problem = _compare_gradient(rule, a, b, max(_magnitude(operands[0], r.detach()) for r, _ in pairs))
        if problem is not None:
            return f"gradient of {name}{problem}"
    return None


def _compare_gradient(rule: Rule, a: torch.Tensor | None, b: torch.Tensor | None, size: float) -> str | None:
    if a is None or b is None:
        there = a if b is None else b
        return " is there on one side only" if there is not None and bool((there != 0).any()) else None
    if a.dtype is not b.dtype or a.shape != b.shape:
        return f": {a.dtype} {tuple(a.shape)} became {b.dtype} {tuple(b.shape)}"
    if a.is_complex():
        a, b = torch.view_as_real(a.resolve_conj()), torch.view_as_real(b.resolve_conj())
    eps = torch.finfo(a.dtype).eps
    a, b = a.double(), b.double()
    finite = a.isfinite()
    if not bool(finite.any()):
        return None
    scale = max(1.0, float(a[finite].abs().amax()), size)
    off = finite & ~((a - b).abs() <= (4000 if rule.exact is Exactness.REAL else 400) * eps * scale)
    if not bool(off.any()):
        return None
    at = int(off.reshape(-1).nonzero()[0])
    return f": {a.reshape(-1)[at].item()!r} became {b.reshape(-1)[at].item()!r}"


def _cotangent(like: torch.Tensor, rng: random.Random) -> torch.Tensor:
    generator = torch.Generator().manual_seed(rng.getrandbits(32))
    return (torch.rand(like.shape, generator=generator, dtype=torch.float64) + 0.5).to(like.dtype)
