"""Operands of different dtypes: tensors, tensors without dimensions, and Python numbers, by PyTorch's rules."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from functools import partial

from eqfuzz.generate.dag.catalogue.operator import Needs, operator
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.spec import (
    BOOL,
    BOOLEAN,
    COMPLEX,
    FLOATS,
    INTEGERS,
    REAL,
    Range,
    Spec,
    UnsatisfiableSpec,
    constant,
)

_promoted = partial(operator, family="promotion", rank=(0, 4))
_DTYPES = (*FLOATS, *INTEGERS, "bool")
_SIZES = {"float64": 64, "float32": 32, "int64": 64, "int32": 32, "int16": 16, "int8": 8, "uint8": 8}
_DEFAULTS = ("int64", "float32", "bool")
"""The dtypes that Python numbers and tensors of them have."""


def _category(dtype: str) -> int:
    return 3 if dtype in COMPLEX else 2 if dtype in FLOATS else 0 if dtype == "bool" else 1


def promoted(a: str, b: str) -> str:
    """The dtype of the result of two real tensors with dimensions."""
    if a == b or _category(a) != _category(b):
        return a if _category(a) >= _category(b) else b
    if _category(a) == 2:
        if {a, b} == {"float16", "bfloat16"}:
            return "float32"
        return max(a, b, key=lambda dtype: _SIZES.get(dtype, 16))
    if {a, b} == {"uint8", "int8"}:
        return "int16"
    return max(a, b, key=lambda dtype: (_SIZES[dtype], dtype != "uint8"))


@dataclasses.dataclass(frozen=True)
class _Second:
    """The second operand: ``kind`` is "number", "constant" or "scalar" (tensors without dimensions), or "tensor"."""

    kind: str
    dtype: str

    def result(self, first: str, rank: int) -> str:
        """The dtype of a result with a tensor of ``first`` and ``rank``."""
        equal = self.kind == "tensor" or (rank == 0 and self.kind != "number")
        if equal or _category(self.dtype) > _category(first):
            return promoted(first, self.dtype)
        return first


_SECONDS = [_Second("number", dtype) for dtype in _DEFAULTS]
_SECONDS += [_Second(kind, dtype) for kind in ("constant", "scalar", "tensor") for dtype in _DTYPES]


def _pairs(result: str, rank: int) -> list[tuple[str, _Second]]:
    """First and second operands of different dtypes that give ``result``."""
    return [
        (first, second)
        for first in _DTYPES
        for second in _SECONDS
        if second.dtype != first and second.result(first, rank) == result
    ]


def _written_pairs(result: str) -> list[tuple[str, _Second]]:
    """Second operands of other dtypes that may be added in place to a tensor of ``result``."""
    return [
        (result, second)
        for second in _SECONDS
        if second.dtype != result and _category(second.dtype) <= _category(result)
    ]


def _needs(
    draw: Draw,
    out: Spec,
    pairs: list[tuple[str, _Second]],
    forms: Sequence[str],
    values: Callable[[Range, Range], Range],
    *,
    divides: bool = False,
) -> Needs:
    """Needs of a call with operands of one of ``pairs``; ``{other}`` is the second one.

    ``divides``: the second operand is positive. Raises UnsatisfiableSpec.
    """
    if out.is_static and out.numel == 0:
        raise UnsatisfiableSpec("empty")
    dtype, second = draw.choice(pairs)
    has_no_sign = "uint8" in (out.dtype, dtype, second.dtype)
    least = 0 if has_no_sign else -8
    operand = out.as_(dtype)
    operand = operand if dtype == "bool" else operand.within(least, 8)
    if second.kind in ("number", "constant"):
        lowest = 1 if divides else 0 if has_no_sign else -3
        number = draw.number(_exactly(second.dtype), lowest, 1 if second.dtype == "bool" else 3)
        code = _literal(draw, second, number)
        filled = [form.replace("{other}", code) for form in forms]
        return Needs(operand, values=lambda x: values(x, constant(float(number))), forms=filled)
    size = () if second.kind == "scalar" else tuple(1 if draw.chance(0.15) else n for n in out.shape)
    other = Spec(size, second.dtype, exact=out.exact or _category(out.dtype) < 2)
    other = other if second.dtype == "bool" else other.within(1 if divides else least, 8)
    filled = [form.replace("{other}", "{1}") for form in forms]
    return Needs(operand, other, values=values, forms=filled)


def _exactly(dtype: str) -> Spec:
    return Spec((), dtype, exact=True)


def _literal(draw: Draw, second: _Second, number: float) -> str:
    """A number of the dtype of ``second`` as code, in a tensor where that is one."""
    text = str(bool(number) if second.dtype == "bool" else float(number) if second.dtype in FLOATS else number)
    if second.kind == "number":
        return f"({text})" if text.startswith("-") else text
    inferred = second.dtype in _DEFAULTS and draw.chance(0.6)
    return f"torch.tensor({text}{'' if inferred else f', dtype=torch.{second.dtype}'})"


@_promoted("torch.add.promoted", dtypes=REAL, exact=True, name_hint="total")
def add(draw: Draw, out: Spec) -> Needs:
    """Sums of operands of two dtypes; a tensor without dimensions or a number seldom changes that of the other."""
    forms = ("{0} + {other}", "torch.add({0}, {other})", "{other} + {0}", "{0}.add({other})")
    return _needs(draw, out, _pairs(out.dtype, out.rank), forms, lambda x, y: x + y)


@_promoted("torch.sub.promoted", dtypes=(*FLOATS, "int64", "int32", "int16"), exact=True)
def sub(draw: Draw, out: Spec) -> Needs:
    """Differences of operands of two dtypes."""
    pairs = [(first, second) for first, second in _pairs(out.dtype, out.rank) if "bool" not in (first, second.dtype)]
    return _needs(draw, out, pairs, ("{0} - {other}", "torch.sub({0}, {other})"), lambda x, y: x - y)


@_promoted("torch.mul.promoted", dtypes=REAL, exact=True)
def mul(draw: Draw, out: Spec) -> Needs:
    """Products of operands of two dtypes."""
    forms = ("{0} * {other}", "{other} * {0}", "torch.mul({0}, {other})")
    return _needs(draw, out, _pairs(out.dtype, out.rank), forms, lambda x, y: x * y)


@_promoted("torch.div.promoted", dtypes=("float32", "float64", "float16"), name_hint="quotient")
def div(draw: Draw, out: Spec) -> Needs:
    """Quotients of two integers, whose result is a float, or of operands of two dtypes."""
    pairs = _pairs(out.dtype, out.rank)
    if out.dtype == "float32" and draw.chance(0.5):
        pairs = [(first, second) for first in (*INTEGERS, "bool") for second in _SECONDS if second.dtype in INTEGERS]
    pairs = [(first, second) for first, second in pairs if second.dtype != "bool"]
    forms = ("{0} / {other}", "torch.div({0}, {other})", "torch.true_divide({0}, {other})")
    return _needs(draw, out, pairs, forms, lambda x, y: x * Range(0, 1), divides=True)


@_promoted("torch.maximum.promoted", dtypes=REAL, exact=True, name_hint="bound")
def extreme(draw: Draw, out: Spec) -> Needs:
    """The larger or smaller of two operands, or one of them by a mask, of two dtypes."""
    forms = ("torch.where({0} > 1, {0}, {other})", "torch.where({0} <= 0, {other}, {0})")
    pairs = _pairs(out.dtype, out.rank)
    if draw.chance(0.5):
        forms = ("torch.maximum({0}, {other})", "torch.minimum({0}, {other})")
        pairs = [(first, second) for first, second in pairs if second.kind != "number"]
    return _needs(draw, out.exactly(), pairs, forms, lambda x, y: x.over(y))


@_promoted("torch.Tensor.add_.promoted", dtypes=REAL, exact=True)
def written_in_place(draw: Draw, out: Spec) -> Needs:
    """In-place sums and products with an operand of another dtype: the result has that of the tensor written to."""
    pairs = _written_pairs(out.dtype)
    if draw.chance(0.5):
        return _needs(draw, out, pairs, ["{0}.clone().add_({other})"], lambda x, y: x + y)
    return _needs(draw, out, pairs, ["{0}.clone().mul_({other})"], lambda x, y: x * y)


@_promoted("torch.gt.promoted", dtypes=BOOL, exact=True, name_hint="mask")
def compare(draw: Draw, out: Spec) -> Needs:
    """Comparisons of exact operands of two dtypes."""
    symbol = draw.choice(("==", "<", ">=", "!="))
    mixed = out.as_(draw.choice(("float32", "int64", "float64", "int16"))).exactly()
    forms = (f"{{0}} {symbol} {{other}}", f"{{other}} {symbol} {{0}}")
    return _needs(draw, mixed, _pairs(mixed.dtype, out.rank), forms, lambda x, y: BOOLEAN)


@_promoted("torch.cat.promoted", dtypes=REAL, rank=(1, 3), exact=True, name_hint="joined")
def cat(draw: Draw, out: Spec) -> Needs:
    """Tensors of two dtypes joined."""
    pairs = [(first, second.dtype) for first, second in _pairs(out.dtype, 1) if second.kind == "tensor"]
    first, second = draw.choice(pairs)
    sizes = draw.split(out.shape[0], 2)
    low = 0 if "uint8" in (first, second, out.dtype) else -8
    operands = [out.as_(dtype).of(n, *out.shape[1:]) for dtype, n in zip((first, second), sizes, strict=True)]
    operands = [operand if operand.dtype == "bool" else operand.within(low, 8) for operand in operands]
    return Needs(*operands, forms=["torch.cat([{0}, {1}])", "torch.cat(({0}, {1}), dim=0)"])


# Constants


@_promoted("torch.full_like.dtype", dtypes=(*REAL, *BOOL), exact=True, saves=False, name_hint="full")
def full_like(draw: Draw, out: Spec) -> Needs:
    """Filled with a number, in the size of another tensor and another dtype."""
    number = draw.chance(0.5) if out.dtype == "bool" else draw.number(out.exactly(), 0, 3)
    others = [dtype for dtype in ("float32", "int64", "bool", "float64") if dtype != out.dtype]
    forms = [
        f"torch.full_like({{0}}, {number}, dtype=torch.{out.dtype})",
        f"{{0}}.new_full({{0}}.shape, {number}, dtype=torch.{out.dtype})",
        f"torch.empty_like({{0}}, dtype=torch.{out.dtype}).fill_({number})",
        f"torch.zeros_like({{0}}, dtype=torch.{out.dtype}) + torch.tensor({number}, dtype=torch.{out.dtype})",
        f"torch.full({{0}}.shape, {number}, dtype=torch.{out.dtype})",
    ]
    return Needs(out.as_(draw.choice(others)), values=constant(float(number)), forms=forms)


@_promoted("torch.arange.fractional", dtypes=FLOATS, rank=(1, 1), saves=False, name_hint="positions")
def arange(draw: Draw, out: Spec) -> Needs:
    """Evenly spaced numbers with a fractional start and step."""
    if not out.is_static or out.numel == 0:
        raise UnsatisfiableSpec("a number of elements that changes, or none")
    start, step = draw.choice((0, 0.5, -1.25, 2)), draw.choice((0.1, 0.7, 0.3, 1.5, -0.25, -0.6))
    end = round(start + (out.numel - 0.5) * step, 3)
    dtype = "" if out.dtype == "float32" and draw.chance(0.7) else f", dtype=torch.{out.dtype}"
    forms = [f"torch.arange({start}, {end}, {step}{dtype})", f"torch.arange({start}, {end}, step={step}{dtype})"]
    ends = (start, start + out.numel * step)
    return Needs(values=Range(min(ends), max(ends)), forms=forms)
