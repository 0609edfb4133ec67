"""Bringing values into bounds, as a person would who knows that a logarithm wants positive numbers."""

from __future__ import annotations

import dataclasses
import math

from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.spec import COMPLEX, FLOATS, Range, Spec, UnsatisfiableSpec, constant, most


@dataclasses.dataclass(frozen=True)
class Clamp:
    """An expression over ``{0}`` and what it gives."""

    operator: str
    text: str
    range: Range


def guard(draw: Draw, given: Range, dtype: str, spec: Spec) -> Clamp:
    """An expression whose values are as ``spec`` says, of values in ``given``. Raises Unfit where there is none.

    What was made with rounding cannot be made exact, nor equal values distinct.
    """
    if spec.distinct or (spec.exact and not given.exact):
        raise UnsatisfiableSpec("no expression makes values exact, or distinct")
    if spec.below is not None:
        return Clamp("torch.remainder", f"{{0}} % {spec.below}", Range(0, most(spec.below) - 1, exact=True))
    if dtype in COMPLEX:
        return Clamp("torch.div", "{0} / (1 + {0}.abs())", Range(-1.0, 1.0))
    if dtype in FLOATS:
        return draw.choice(_of_floats(given, spec))
    return draw.choice(_of_integers(given, spec, dtype))


def _of_floats(given: Range, spec: Spec) -> list[Clamp]:
    low, high = spec.low, spec.high
    if given.wild:
        to = _inner(low, high)
        text = f"torch.nan_to_num({{0}}, nan={to}, posinf={to}, neginf={to})"
        if not math.isinf(low) or not math.isinf(high):
            text += f".clamp({_clamped(low, high)})"
        return [Clamp("torch.nan_to_num", text, given_in(given, low, high))]
    found = [Clamp("torch.clamp", f"{{0}}.clamp({_clamped(low, high)})", given_in(given, low, high))]
    found.append(Clamp("torch.clamp", f"torch.clamp({{0}}, {_clamped(low, high)})", given_in(given, low, high)))
    if spec.exact:
        if not found[0].range.exact:
            raise UnsatisfiableSpec("the bounds themselves would round")
        return found
    if not math.isinf(low) and not math.isinf(high):
        width, middle = round((high - low) * 0.95, 3), (high + low) / 2
        if width <= 16:
            half = round(width / 2, 3)
            scaled = "{f}" if half == 1 else f"{half} * {{f}}"
            moved = "" if middle == 0 else f" + {round(middle, 3)}"
            bent = Range(middle - half, middle + half)
            for name, text in (("torch.tanh", "torch.tanh({0})"), ("torch.sin", "torch.sin({0})")):
                found.append(Clamp(name, scaled.replace("{f}", text) + moved, bent))
    if low > 0:
        base = round(max(low * 1.1, 0.1), 3)
        if given.most + base <= high:
            found.append(Clamp("torch.abs", f"{{0}}.abs() + {base}", Range(base, given.most + base)))
        if given.most + 0.7 + base <= high:
            softplus = Range(base, max(given.high, 0) + 0.7 + base)
            found.append(Clamp("torch.nn.functional.softplus", f"F.softplus({{0}}) + {base}", softplus))
        if given.most**2 + base <= high:
            found.append(Clamp("torch.square", f"{{0}} * {{0}} + {base}", Range(base, given.most**2 + base)))
        if base + 1 <= high:
            found.append(Clamp("torch.sigmoid", f"torch.sigmoid({{0}}) + {base}", Range(base, base + 1)))
    return found


def _of_integers(given: Range, spec: Spec, dtype: str) -> list[Clamp]:
    low, high = math.ceil(max(spec.low, -128)), math.floor(min(spec.high, 127))
    if low > high:
        raise UnsatisfiableSpec("no whole numbers in these bounds")
    found = [Clamp("torch.clamp", f"{{0}}.clamp({_clamped(low, high)})", given_in(given, low, high))]
    if low <= 0 and high >= 2 and dtype != "bool":
        found.append(Clamp("torch.remainder", f"{{0}} % {high + 1}", Range(0, high, exact=True)))
    return found


def given_in(given: Range, low: float, high: float) -> Range:
    """What is left of a range when it is clamped."""
    least, greatest = min(max(given.low, low), high), max(min(given.high, high), low)
    bounds = [constant(bound) for bound in (low, high) if not math.isinf(bound)]
    exact = given.exact and all(bound.exact for bound in bounds)
    return Range(least, greatest, exact, bits=max([given.bits, *(bound.bits for bound in bounds)]))


def _clamped(low: float, high: float) -> str:
    if math.isinf(low):
        return f"max={_number(high)}"
    if math.isinf(high):
        return f"min={_number(low)}"
    return f"{_number(low)}, {_number(high)}"


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else str(value)


def _inner(low: float, high: float) -> float:
    """A number in the bounds."""
    if low <= 0 <= high:
        return 0.0
    return min(high, low + 1.0) if not math.isinf(low) else high - 1.0
