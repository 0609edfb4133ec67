"""What must hold of a rule on given operands: both sides run here, in eager, and are compared by the declared class."""

from __future__ import annotations

import random
from typing import Any

import torch

from eqfuzz.rewrite.rule import Exactness, Rule
from eqfuzz.rewrite.sample import left_of, right_of

FACTOR = {Exactness.ULP: 48.0, Exactness.REAL: 4000.0}
"""How many measured rounding effects both sides may be apart; sums of up to 1,030 terms for ``real``."""


def disagreement(rule: Rule, values: dict[str, Any], seed: int = 0) -> str | None:
    """How the sides differ on ``values``, in a few words, or None."""
    before = {name: value.detach().clone() for name, value in values.items() if isinstance(value, torch.Tensor)}
    left, right = left_of(rule, values), right_of(rule, values)
    for name, old in before.items():
        if not same_bits(old, values[name].detach()):
            return f"{name} was changed"
    problem = compare_values(rule, left, right, values)
    if problem is None and rule.gradients:
        problem = _compare_gradients(rule, left, right, values, seed)
    return problem


def compare_values(rule: Rule, left: Any, right: Any, values: dict[str, Any]) -> str | None:
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
    return _beyond_rounding(rule, left, right, values)


def strides_that_matter(tensor: torch.Tensor) -> list[int]:
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


def _beyond_rounding(rule: Rule, left: torch.Tensor, right: torch.Tensor, values: dict[str, Any]) -> str | None:
    """Compare with the effect that one rounding of each operand has on the left side in float64."""
    if left.is_complex():
        left, right = torch.view_as_real(left.resolve_conj()), torch.view_as_real(right.resolve_conj())
    info = torch.finfo(left.dtype)
    a, b = left.double(), right.double()
    allowed = (_noise(rule, values, info.eps, a) + info.eps * a.abs()) * FACTOR[rule.exact] + 4 * info.smallest_normal
    if rule.exact is Exactness.REAL:
        allowed = allowed + 200 * info.eps * _magnitude(values, a)
    near_overflow = torch.maximum(a.abs().nan_to_num(info.max), b.abs().nan_to_num(info.max)) > info.max / 8
    close = ((a - b).abs() <= allowed) | (a == b) | (a.isnan() & b.isnan()) | (near_overflow & ~a.isnan() & ~b.isnan())
    if bool(close.all()):
        return None
    at = int((~close).reshape(-1).nonzero()[0])
    return (
        f"beyond {rule.exact}: {a.reshape(-1)[at].item()!r} became {b.reshape(-1)[at].item()!r}, "
        f"allowed {allowed.reshape(-1)[at].item():.3g} ({int((~close).sum())} of {close.numel()})"
    )


def _noise(rule: Rule, values: dict[str, Any], eps: float, like: torch.Tensor) -> torch.Tensor:
    """The largest change of the left side in float64 when operands move by ``eps`` of their size; 0 if it has none."""
    generator = torch.Generator().manual_seed(7)

    def run(amount: float) -> torch.Tensor:
        moved = {}
        for name, value in values.items():
            if isinstance(value, torch.Tensor) and value.is_floating_point():
                noise = torch.rand(value.shape, generator=generator, dtype=torch.float64) * 2 - 1
                value = value.detach().double() * (1 + amount * noise)
            elif isinstance(value, torch.Tensor) and value.is_complex():
                noise = torch.rand(value.shape, generator=generator, dtype=torch.float64) * 2 - 1
                value = value.detach().to(torch.complex128) * (1 + amount * noise)
            moved[name] = value
        result = left_of(rule, moved)
        return torch.view_as_real(result.resolve_conj()) if result.is_complex() else result

    try:
        base = run(0.0)
        if base.shape != like.shape or base.dtype is not torch.float64:
            return torch.zeros_like(like)
        spread = torch.stack([(run(eps) - base).abs() for _ in range(6)]).amax(0)
    except RuntimeError:  # the left side does not exist in float64
        return torch.zeros_like(like)
    return spread.nan_to_num(0.0, 0.0, 0.0)


def _magnitude(values: dict[str, Any], result: torch.Tensor) -> float:
    sizes = [1.0]
    for value in (*values.values(), result):
        if isinstance(value, torch.Tensor) and value.numel() and (value.is_floating_point() or value.is_complex()):
            size = value.detach().abs().double()
            sizes.append(float(size[size.isfinite()].amax()) if bool(size.isfinite().any()) else 1.0)
    return max(sizes)


def _compare_gradients(rule: Rule, left: Any, right: Any, values: dict[str, Any], seed: int) -> str | None:
    names = [n for n, v in values.items() if isinstance(v, torch.Tensor) and v.requires_grad]
    if not names or not isinstance(left, torch.Tensor) or not left.requires_grad:
        return None
    leaves = [values[n] for n in names]
    cotangent = _cotangent(left, random.Random(seed))
    try:
        lefts = torch.autograd.grad(left, leaves, cotangent, allow_unused=True, retain_graph=True)
    except (RuntimeError, NotImplementedError):  # eager has no derivative of the left side: nothing to be equal to
        return None
    rights = torch.autograd.grad(right, leaves, cotangent, allow_unused=True, retain_graph=True)
    for name, a, b in zip(names, lefts, rights, strict=True):
        if a is None or b is None:
            if a is not b and bool(((a if b is None else b) != 0).any()):
                return f"gradient of {name} is there on one side only"
            continue
        if a.dtype is not b.dtype or a.shape != b.shape:
            return f"gradient of {name}: {a.dtype} {tuple(a.shape)} became {b.dtype} {tuple(b.shape)}"
        if a.is_complex():
            a, b = torch.view_as_real(a.resolve_conj()), torch.view_as_real(b.resolve_conj())
        eps = torch.finfo(a.dtype).eps
        a, b = a.double(), b.double()
        known = a.isfinite()
        if not bool(known.any()):
            continue
        scale = max(1.0, float(a[known].abs().amax()), _magnitude(values, left.detach()))
        off = known & ~((a - b).abs() <= (4000 if rule.exact is Exactness.REAL else 400) * eps * scale)
        if bool(off.any()):
            at = int(off.reshape(-1).nonzero()[0])
            return f"gradient of {name}: {a.reshape(-1)[at].item()!r} became {b.reshape(-1)[at].item()!r}"
    return None


def _cotangent(like: torch.Tensor, rng: random.Random) -> torch.Tensor:
    generator = torch.Generator().manual_seed(rng.getrandbits(32))
    return (torch.rand(like.shape, generator=generator, dtype=torch.float64) + 0.5).to(like.dtype)
