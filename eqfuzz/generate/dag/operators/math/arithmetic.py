"""Sums, products, quotients, remainders and powers of two tensors, or of a tensor and a number."""

from __future__ import annotations

from functools import partial

from eqfuzz.generate.dag.catalogue.operator import Needs, operator
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.spec import COMPLEX, FLOATS, NUMBERS, REAL, SIGNED, Range, Spec, constant

_binary = partial(operator, family="binary")


def _literal_or_tensor(draw: Draw, out: Spec) -> Spec | None:
    """The second operand: a tensor that broadcasts, sometimes of a dtype that promotes; None for a literal."""
    if draw.chance(0.25):
        return None
    other = draw.broadcast(out).free()
    if draw.chance(0.08) and other.is_float:
        return other.as_(draw.choice(("int64", "int16", "int32")))
    return other


def _arithmetic(draw: Draw, out: Spec, symbol: str, name: str, sign: int) -> Needs:
    other = _literal_or_tensor(draw, out)
    first = out.free()
    if other is None:
        number = draw.number(out)
        number_range = constant(number)
        forms = (f"{{0}} {symbol} {{value}}", f"torch.{name}({{0}}, {{value}})", f"{{0}}.{name}({{value}})")
        moved = lambda x: x + number_range if sign > 0 else x - number_range  # noqa: E731
        values = (lambda x: x.over(moved(x))) if out.is_complex else moved
        return Needs(first, values=values, forms=forms, value=number)
    return Needs(first, other, values=lambda x, y: x + y if sign > 0 else x - y)


@_binary(
    "torch.add",
    "{0} + {1}",
    "torch.add({0}, {1})",
    "{0}.add({1})",
    "torch.add({0}, other={1})",
    dtypes=NUMBERS,
    exact=True,
    saves=False,
    inplace=["{0}.add_({1})", "{0} += {1}"],
    out=["torch.add({0}, {1}, out={out})"],
    weight=3,
)
def add(draw: Draw, out: Spec) -> Needs:
    """With broadcasting, type promotion, and numbers."""
    return _arithmetic(draw, out, "+", "add", 1)


@_binary(
    "torch.sub",
    "{0} - {1}",
    "torch.sub({0}, {1})",
    "{0}.sub({1})",
    "torch.subtract({0}, {1})",
    dtypes=SIGNED + FLOATS + COMPLEX,
    exact=True,
    saves=False,
    inplace=["{0}.sub_({1})", "{0} -= {1}"],
    out=["torch.sub({0}, {1}, out={out})"],
    weight=2,
)
def sub(draw: Draw, out: Spec) -> Needs:
    """With broadcasting, type promotion, and numbers."""
    return _arithmetic(draw, out, "-", "sub", -1)


@_binary(
    "torch.mul",
    "{0} * {1}",
    "torch.mul({0}, {1})",
    "{0}.mul({1})",
    "torch.multiply({0}, {1})",
    dtypes=NUMBERS,
    exact=True,
    inplace=["{0}.mul_({1})", "{0} *= {1}"],
    out=["torch.mul({0}, {1}, out={out})"],
    weight=3,
)
def mul(draw: Draw, out: Spec) -> Needs:
    """With broadcasting, type promotion, and numbers."""
    other = _literal_or_tensor(draw, out)
    if other is not None:
        return Needs(out.free(), other, values=lambda x, y: _product(out, x, y))
    number = draw.number(out, -3, 3)
    number_range = constant(number)
    forms = ("{0} * {value}", "{value} * {0}", "torch.mul({0}, {value})")
    return Needs(out.free(), values=lambda x: x * number_range, forms=forms, value=number)


def _product(out: Spec, x: Range, y: Range) -> Range:
    got = x * y
    return Range(got.low * 2, got.high * 2, got.exact, got.nonfinite) if out.is_complex else got


@_binary(
    "torch.div",
    "{0} / {1}",
    "torch.div({0}, {1})",
    "{0}.div({1})",
    "torch.true_divide({0}, {1})",
    dtypes=FLOATS,
    inplace=["{0}.div_({1})", "{0} /= {1}"],
    out=["torch.div({0}, {1}, out={out})"],
    weight=2,
)
def div(draw: Draw, out: Spec) -> Needs:
    """The divisor is bounded away from zero."""
    if draw.chance(0.3):
        number = draw.choice((2, 4, 0.5, 3, 1.7, -2.5))
        forms = ("{0} / {value}", "torch.div({0}, {value})")
        return Needs(out.free(), values=lambda x: x * Range(-2, 2), forms=forms, value=number)
    return Needs(out.free(), draw.broadcast(out).free().within(0.25, 64.0), values=lambda x, y: x * Range(-4, 4))


@_binary(
    "torch.div.rounding_mode",
    'torch.div({0}, {1}, rounding_mode="{mode}")',
    '{0}.div({1}, rounding_mode="{mode}")',
    dtypes=REAL,
    exact=True,
    inplace=['{0}.div_({1}, rounding_mode="{mode}")'],
)
def rounded_div(draw: Draw, out: Spec) -> Needs:
    """Rounded quotients of exact operands."""
    other = draw.broadcast(out).free().exactly().within(1, 9)
    return Needs(out.free().exactly(), other, values=_smaller, mode=draw.choice(("floor", "trunc")))


def _smaller(x: Range, y: Range) -> Range:
    return Range(-x.most, x.most, x.exact and y.exact) if x.low < 0 else Range(0, x.most, x.exact and y.exact)


@_binary("torch.floor_divide", "{0} // {1}", "torch.floor_divide({0}, {1})", dtypes=REAL, exact=True, grad=False)
def floor_divide(draw: Draw, out: Spec) -> Needs:
    """By divisors bounded away from zero."""
    if draw.chance(0.4):
        return Needs(out.free().exactly(), values=lambda x: _smaller(x, x), forms=("{0} // {value}",), value=3)
    return Needs(out.free().exactly(), draw.broadcast(out).free().exactly().within(1, 9), values=_smaller)


@_binary(
    "torch.remainder",
    "{0} % {1}",
    "torch.remainder({0}, {1})",
    "{0}.remainder({1})",
    dtypes=REAL,
    exact=True,
    grad=False,
    inplace=["{0}.remainder_({1})"],
    out=["torch.remainder({0}, {1}, out={out})"],
)
def remainder(draw: Draw, out: Spec) -> Needs:
    """Modulo positive numbers, of exact values."""
    other = draw.broadcast(out).free().exactly().within(1, 9)
    return Needs(out.free().exactly(), other, values=lambda x, y: Range(0, y.high, x.exact and y.exact))


@_binary(
    "torch.fmod",
    "torch.fmod({0}, {1})",
    "{0}.fmod({1})",
    dtypes=REAL,
    exact=True,
    grad=False,
    inplace=["{0}.fmod_({1})"],
)
def fmod(draw: Draw, out: Spec) -> Needs:
    """Modulo positive numbers, with the sign of the dividend."""
    other = draw.broadcast(out).free().exactly().within(1, 9)
    return Needs(out.free().exactly(), other, values=lambda x, y: _smaller(x, y))


@_binary("torch.pow", "{0} ** {1}", "torch.pow({0}, {1})", "{0}.pow({1})", dtypes=FLOATS, inplace=["{0}.pow_({1})"])
def power(draw: Draw, out: Spec) -> Needs:
    """To a constant power, or positive bases to any power."""
    if draw.chance(0.6):
        exponent = draw.choice((2, 3, 0.5, -1, 1.5, 4, -0.5, 2.0, 1))
        base = out.free().within(0.1, 5.0) if exponent != abs(int(exponent)) else out.free().within(-5.0, 5.0)
        forms = ("{0} ** {value}", "torch.pow({0}, {value})", "{0}.pow({value})")
        return Needs(base, values=Range(-125 if exponent == 3 else 0, 625), forms=forms, value=exponent)
    other = draw.broadcast(out).free().within(-2.0, 2.0)
    return Needs(out.free().within(0.2, 5.0), other, values=Range(0, 26))


@_binary("torch.pow.integers", "{0} ** {value}", "torch.pow({0}, {value})", dtypes=SIGNED, exact=True)
def integer_power(draw: Draw, out: Spec) -> Needs:
    """Integers squared or cubed."""
    exponent = draw.choice((2, 3))
    return Needs(out.within(-5, 5), values=Range(-125, 125, exact=True), value=exponent)


@_binary("torch.float_power", "torch.float_power({0}, {value})", "{0}.float_power({value})", dtypes=["float64"])
def float_power(draw: Draw, out: Spec) -> Needs:
    """Always in double precision."""
    first = out.as_(draw.choice(("float32", "float64"))).within(0.2, 5.0)
    return Needs(first, values=Range(0, 125), value=draw.choice((2, 0.5, 3, -1.5)))


@_binary(
    "torch.addcmul",
    "torch.addcmul({0}, {1}, {2}, value={value})",
    "{0}.addcmul({1}, {2}, value={value})",
    dtypes=FLOATS + SIGNED,
    exact=True,
    inplace=["{0}.addcmul_({1}, {2}, value={value})"],
)
def addcmul(draw: Draw, out: Spec) -> Needs:
    """A tensor plus a multiple of a product."""
    number = draw.choice((1, 2, -1)) if out.exact or not out.is_float else draw.choice((0.5, 1, -0.3))
    number_range = constant(number)
    others = draw.broadcast(out).free(), draw.broadcast(out).free()
    return Needs(out.free(), *others, values=lambda x, y, z: x + y * z * number_range, value=number)


@_binary(
    "torch.addcdiv",
    "torch.addcdiv({0}, {1}, {2}, value={value})",
    dtypes=FLOATS,
    inplace=["{0}.addcdiv_({1}, {2}, value={value})"],
)
def addcdiv(draw: Draw, out: Spec) -> Needs:
    """A tensor plus a multiple of a quotient."""
    over = draw.broadcast(out).free().within(0.25, 64.0)
    values = lambda x, y, z: x + y * Range(-4, 4)  # noqa: E731
    return Needs(out.free(), draw.broadcast(out).free(), over, values=values, value=draw.choice((0.5, 1.0, -0.3)))


@_binary("torch.rsub", "torch.rsub({0}, {1})", "{value} - {0}", dtypes=FLOATS + SIGNED, exact=True, saves=False)
def rsub(draw: Draw, out: Spec) -> Needs:
    """Reversed subtraction."""
    if draw.chance(0.5):
        number = draw.number(out.exactly(), -3, 3)
        number_range = constant(number)
        return Needs(
            out.free(),
            values=lambda x: number_range - x,
            forms=("{value} - {0}", "torch.rsub({0}, {value})"),
            value=number,
        )
    return Needs(out.free(), out.free(), values=lambda x, y: y - x, forms=("torch.rsub({0}, {1})",))
