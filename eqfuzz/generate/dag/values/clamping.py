"""Expressions that bring values into required bounds."""

from __future__ import annotations

import dataclasses
import math

from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.spec import COMPLEX, FLOATS, Range, Spec, UnsatisfiableSpec, constant, most


@dataclasses.dataclass(frozen=True)
class Clamp:
    """An expression over ``{0}``, its operator, and the range of its result."""

    operator: str
    text: str
    range: Range


def clamp(draw: Draw, values: Range, dtype: str, spec: Spec) -> Clamp:
    """An expression that brings ``values`` into the bounds of ``spec``. Raises UnsatisfiableSpec where there is none.

    Rounded values cannot be made exact, nor equal values distinct, nor any values some of a list.
    """
    if spec.distinct or spec.among or (spec.exact and not values.exact):
        raise UnsatisfiableSpec("no expression makes values exact, distinct or some of a list")
    if spec.below is not None:
        return Clamp("torch.remainder", f"{{0}} % {spec.below}", Range(0, most(spec.below) - 1, exact=True))
    if dtype in COMPLEX:
        if values.nonfinite:
            raise UnsatisfiableSpec("no expression makes complex numbers finite")
        return Clamp("torch.div", "{0} / (1 + {0}.abs())", Range(-1.0, 1.0))
    if dtype in FLOATS:
        return draw.choice(_of_floats(values, spec))
    return draw.choice(_of_integers(values, spec, dtype))


def _of_floats(values: Range, spec: Spec) -> list[Clamp]:
    low, high = spec.low, spec.high
    if values.nonfinite:
        to = _inner(low, high)
        text = f"torch.nan_to_num({{0}}, nan={to}, posinf={to}, neginf={to})"
        if not math.isinf(low) or not math.isinf(high):
            text += f".clamp({_bounds_arguments(low, high)})"
        return [Clamp("torch.nan_to_num", text, clamped_range(values.over(constant(to)), low, high))]
    clamps = [Clamp("torch.clamp", f"{{0}}.clamp({_bounds_arguments(low, high)})", clamped_range(values, low, high))]
    clamps.append(
        Clamp("torch.clamp", f"torch.clamp({{0}}, {_bounds_arguments(low, high)})", clamped_range(values, low, high))
    )
    if spec.exact:
        if not clamps[0].range.exact:
            raise UnsatisfiableSpec("the bounds are not exact")
        return clamps
    if not math.isinf(low) and not math.isinf(high):
        width, middle = round((high - low) * 0.95, 3), (high + low) / 2
        if width <= 16:
            half = round(width / 2, 3)
            scaled = "{f}" if half == 1 else f"{half} * {{f}}"
            moved = "" if middle == 0 else f" + {round(middle, 3)}"
            bent = Range(middle - half, middle + half)
            for name, text in (("torch.tanh", "torch.tanh({0})"), ("torch.sin", "torch.sin({0})")):
                clamps.append(Clamp(name, scaled.replace("{f}", text) + moved, bent))
    if low > 0:
        base = round(max(low * 1.1, 0.1), 3)
        if values.most + base <= high:
            clamps.append(Clamp("torch.abs", f"{{0}}.abs() + {base}", Range(base, values.most + base)))
        if values.most + 0.7 + base <= high:
            softplus = Range(base, max(values.high, 0) + 0.7 + base)
            clamps.append(Clamp("torch.nn.functional.softplus", f"F.softplus({{0}}) + {base}", softplus))
        if values.most**2 + base <= high:
            clamps.append(Clamp("torch.square", f"{{0}} * {{0}} + {base}", Range(base, values.most**2 + base)))
        if base + 1 <= high:
            clamps.append(Clamp("torch.sigmoid", f"torch.sigmoid({{0}}) + {base}", Range(base, base + 1)))
    return clamps


def _of_integers(values: Range, spec: Spec, dtype: str) -> list[Clamp]:
    low, high = math.ceil(max(spec.low, -128)), math.floor(min(spec.high, 127))
    if low > high:
        raise UnsatisfiableSpec("no integers in these bounds")
    clamps = [Clamp("torch.clamp", f"{{0}}.clamp({_bounds_arguments(low, high)})", clamped_range(values, low, high))]
    if low <= 0 and high >= 2 and dtype != "bool":
        clamps.append(Clamp("torch.remainder", f"{{0}} % {high + 1}", Range(0, high, exact=True)))
    return clamps


def clamped_range(values: Range, low: float, high: float) -> Range:
    """The range of ``values`` clamped to ``low`` and ``high``."""
    least, greatest = min(max(values.low, low), high), max(min(values.high, high), low)
    bounds = [constant(bound) for bound in (low, high) if not math.isinf(bound)]
    exact = values.exact and all(bound.exact for bound in bounds)
    return Range(least, greatest, exact, bits=max([values.bits, *(bound.bits for bound in bounds)]))


def _bounds_arguments(low: float, high: float) -> str:
    if math.isinf(low):
        return f"max={_number(high)}"
    if math.isinf(high):
        return f"min={_number(low)}"
    return f"{_number(low)}, {_number(high)}"


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else str(value)


def _inner(low: float, high: float) -> float:
    """A number within the bounds."""
    if low <= 0 <= high:
        return 0.0
    return min(high, low + 1.0) if not math.isinf(low) else high - 1.0
