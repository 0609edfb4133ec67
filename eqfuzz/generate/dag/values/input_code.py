"""Input tensors of a program, as code of its ``inputs(rng)`` hook."""

from __future__ import annotations

import dataclasses
import math

from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.spec import (
    BOOLEAN,
    FLOATS,
    PART,
    WIDE,
    Dim,
    Range,
    Spec,
    UnsatisfiableSpec,
    constant,
    most,
)

PROFILES = {
    "normal": 6.0,
    "uniform": 2.0,
    "integers": 2.0,
    "magnitudes": 0.7,
    "special": 0.5,
    "sparse": 0.7,
    "ties": 0.7,
    "sorted": 0.5,
}
"""Distributions of input values, with weights."""

LAYOUTS = {
    "contiguous": 12.0,
    "transposed": 2.0,
    "strided": 1.0,
    "offset": 1.0,
    "expanded": 1.0,
    "channels last": 2.0,
    "reversed dims": 1.0,
}


_RARELY_EQUAL = 64
"""Elements up to which normal float32 numbers almost always differ: two are equal once in some thousand draws."""


_WHOLE_NUMBERS = {"bfloat16": 256, "float16": 2048}
"""Every integer up to these is exact in the dtype."""


@dataclasses.dataclass(frozen=True)
class InputCode:
    """Code that draws a tensor, the range of its values, and whether it is contiguous."""

    text: str
    range: Range
    contiguous: bool


def literal(size: tuple[int, ...]) -> str:
    """A size as arguments of a call: ``2, 3``."""
    return ", ".join(str(n) for n in size)


def drawn_input(draw: Draw, spec: Spec, profiles: dict[str, float], layouts: dict[str, float]) -> InputCode:
    """Code that draws a tensor that meets ``spec``, in a random layout. Raises UnsatisfiableSpec."""
    layout = draw.weighted({name: w for name, w in layouts.items() if _can_lie(name, spec)})
    if spec.distinct and layout == "expanded":
        layout = "contiguous"
    size, after = layout_code(draw, spec.shape, layout)
    text, range_ = values(draw, dataclasses.replace(spec, size=size), profiles)
    if after and (" * " in text):
        text = f"({text})"
    return InputCode(text + after, range_, layout == "contiguous")


def values(draw: Draw, spec: Spec, profiles: dict[str, float]) -> tuple[str, Range]:
    """Code that draws a contiguous tensor, and the range of its values. Raises UnsatisfiableSpec."""
    size = "".join(f"{n}, " for n in spec.shape)
    if spec.dtype == "bool":
        share = draw.choice((0.5, 0.5, 0.3, 0.7))
        return f"rng.booleans({size[:-2]}{', ' * bool(size)}p={share})".replace("(, ", "("), BOOLEAN
    if spec.among:
        return _some_of(spec, size)
    if spec.below is not None:
        return f"rng.integers(0, {spec.below}, {size}".removesuffix(", ") + ")", _indices(spec.below)
    if spec.dtype not in FLOATS and not spec.is_complex:
        low, high = _whole(spec, 0 if spec.dtype == "uint8" else -9, 9)
        if spec.distinct:
            return _permutation(spec)
        dtype = "" if spec.dtype == "int64" else f"dtype=torch.{spec.dtype}"
        return _call("integers", f"{low}, {high + 1}, {size}{dtype}"), Range(low, high, exact=True)
    if spec.is_complex:
        if spec.exact:
            part = f"rng.integers(-3, 4, {size}dtype=torch.{PART[spec.dtype]})"
            return f"torch.complex({part}, {part})", Range(-3, 3, exact=True)
        return _call("normal", f"{size}dtype=torch.{spec.dtype}"), Range(-5, 5)
    return _floats(draw, spec, profiles, size)


def _floats(draw: Draw, spec: Spec, profiles: dict[str, float], size: str) -> tuple[str, Range]:
    dtype = "" if spec.dtype == "float32" else f"dtype=torch.{spec.dtype}"
    bounded = not math.isinf(spec.low) or not math.isinf(spec.high)
    if spec.distinct:
        if spec.exact or spec.dtype not in WIDE or (spec.dtype == "float32" and spec.numel > _RARELY_EQUAL):
            text, range_ = _permutation(dataclasses.replace(spec, dtype="int64", exact=True))
            if range_.high > _WHOLE_NUMBERS.get(spec.dtype, 4096):
                raise UnsatisfiableSpec("too many distinct values for the dtype")
            return f"{text}.to(torch.{spec.dtype})", range_
        return _call("normal", size + dtype), Range(-5, 5, distinct=True)
    if spec.exact:
        low, high = _whole(spec, -4, 4)
        if draw.chance(0.3) and low <= -1 and high >= 2:
            return _call("choice", f"[-1.0, -0.5, 0.0, 0.25, 1.0, 2.0], {size}{dtype}"), Range(
                -1, 2, exact=True, bits=2
            )
        return _call("integers", f"{low}, {high + 1}, {size}dtype=torch.{spec.dtype}"), Range(low, high, exact=True)
    if bounded:
        low = spec.low if not math.isinf(spec.low) else spec.high - 8.0
        high = spec.high if not math.isinf(spec.high) else spec.low + 8.0
        low, high = _inside(low, high)
        return _call("uniform", f"{size}low={low}, high={high}" + f", {dtype}" * bool(dtype)), Range(low, high)
    profile = draw.weighted({n: w for n, w in profiles.items() if not (n == "special" and spec.finite)})
    if profile == "uniform":
        low, high = draw.choice(((0.0, 1.0), (-1.0, 1.0), (0.5, 2.0), (-3.0, 3.0)))
        return _call("uniform", f"{size}low={low}, high={high}" + f", {dtype}" * bool(dtype)), Range(low, high)
    if profile == "integers":
        return _call("integers", f"-4, 5, {size}dtype=torch.{spec.dtype}"), Range(-4, 4, exact=True)
    if profile == "magnitudes":
        return f"{_call('normal', size + dtype)} * {_call('choice', f'[0.01, 1.0, 30.0], {size}{dtype}')}", Range(
            -180, 180
        )
    if profile == "special":
        return _call("special", size + dtype), Range(-1e30, 1e30, nonfinite=True)
    if profile == "sparse":
        return f"{_call('normal', size + dtype)} * {_call('booleans', size + 'p=0.3')}", Range(-6, 6)
    if profile == "ties":
        return _call("choice", f"[-1.5, -0.5, 0.5, 1.0, 2.0], {size}{dtype}"), Range(-1.5, 2.0, exact=True, bits=1)
    if profile == "sorted" and spec.rank:
        return f"{_call('normal', size + dtype)}.sort(dim=-1).values", Range(-6, 6)
    return _call("normal", size + dtype), Range(-6, 6)


def _call(method: str, arguments: str) -> str:
    return f"rng.{method}({arguments.removesuffix(', ')})"


def _permutation(spec: Spec) -> tuple[str, Range]:
    if not spec.is_static:
        raise UnsatisfiableSpec("a permutation of a size that changes")
    count = spec.numel
    if spec.dtype in ("int8", "uint8") and count > 100:
        raise UnsatisfiableSpec("too many distinct values for the dtype")
    text = f"rng.permutation({count})"
    if spec.rank != 1:
        text += f".reshape({literal(spec.shape)})" if spec.rank else ".reshape(())"
    if spec.dtype != "int64":
        text += f".to(torch.{spec.dtype})"
    return text, Range(0, max(0, count - 1), exact=True, distinct=True)


def _some_of(spec: Spec, size: str) -> tuple[str, Range]:
    finite = [value for value in spec.among if math.isfinite(value)]
    listed = ", ".join(str(value) if math.isfinite(value) else f'float("{value}")' for value in spec.among)
    dtype = "" if spec.dtype == "float32" else f"dtype=torch.{spec.dtype}"
    bits = [constant(value) for value in finite]
    described = Range(
        min(finite),
        max(finite),
        exact=all(value.exact for value in bits),
        nonfinite=len(finite) < len(spec.among),
        bits=max(value.bits for value in bits),
        among=spec.among,
    )
    return _call("choice", f"[{listed}], {size}{dtype}"), described


def _indices(below: int) -> Range:
    return Range(0, most(below) - 1, exact=True)


def _whole(spec: Spec, low: int, high: int) -> tuple[int, int]:
    """Whole bounds within those of the spec, near the ones given. Raises UnsatisfiableSpec where there are none."""
    if not math.isinf(spec.low):
        low = max(low, math.ceil(spec.low)) if spec.low <= high else math.ceil(spec.low)
    if not math.isinf(spec.high):
        high = min(high, math.floor(spec.high)) if spec.high >= low else math.floor(spec.high)
    high = max(high, low) if high >= spec.low and low <= spec.high else high
    if low > high or low < spec.low or high > spec.high:
        raise UnsatisfiableSpec("no whole numbers in these bounds")
    return low, high


def _inside(low: float, high: float) -> tuple[float, float]:
    """Bounds of two decimals within ``low`` and ``high``, at most 8 apart. Raises UnsatisfiableSpec."""
    if high - low > 8:
        low, high = (max(low, -3.0), min(high, 3.0)) if low < 0 < high else (low, low + 8)
    inside = math.ceil(low * 100) / 100, math.floor(high * 100) / 100
    if inside[0] >= inside[1]:
        raise UnsatisfiableSpec("no values in these bounds")
    return inside


def _can_lie(layout: str, spec: Spec) -> bool:
    size = spec.shape
    if layout == "contiguous":
        return True
    if layout == "channels last":
        return len(size) == 4
    if layout in ("transposed", "reversed dims"):
        return len(size) >= 2
    if layout == "expanded":
        return len(size) >= 1 and not spec.distinct
    return len(size) >= 1 and not (spec.distinct and (spec.exact or spec.dtype not in WIDE))


def layout_code(draw: Draw, size: tuple[int, ...], layout: str) -> tuple[tuple[int, ...], str]:
    """The size of the drawn tensor, and the code after it that gives ``size`` in ``layout``."""
    if layout == "transposed":
        swapped = [*size[:-2], size[-1], size[-2]]
        return tuple(swapped), ".t()" if len(size) == 2 and draw.chance(0.5) else ".transpose(-2, -1)"
    if layout == "reversed dims":
        order = ", ".join(str(i) for i in reversed(range(len(size))))
        return tuple(reversed(size)), f".permute({order})"
    if layout == "channels last":
        return size, ".contiguous(memory_format=torch.channels_last)"
    if layout == "expanded":
        axis = draw.integer(0, len(size) - 1)
        return tuple(1 if i == axis else n for i, n in enumerate(size)), f".expand({literal(size)})"
    if layout in ("strided", "offset"):
        axes = [i for i, n in enumerate(size) if not isinstance(n, Dim)]
        if axes:
            axis = draw.choice(axes)
            before = ":, " * axis
            if layout == "strided":
                return tuple(2 * n if i == axis else n for i, n in enumerate(size)), f"[{before}::2]"
            return tuple(n + 1 if i == axis else n for i, n in enumerate(size)), f"[{before}1:]"
    return size, ""
