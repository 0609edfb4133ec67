"""Operators of two and three tensors that work element by element."""

from __future__ import annotations

from eqfuzz.generate.dag.draw import Draw
from eqfuzz.generate.dag.operator import Needs, operator
from eqfuzz.generate.dag.spec import (
    BOOL,
    BOOLEAN,
    COMPLEX,
    FLOATS,
    INTEGERS,
    NUMBERS,
    REAL,
    SIGNED,
    Range,
    Spec,
    Unfit,
    constant,
)

_COMPLEX_WIDTH = {"complex64": "float32", "complex128": "float64"}


def _literal_or_tensor(draw: Draw, out: Spec) -> Spec | None:
    """The second operand: a tensor that broadcasts, at times of a dtype that promotes; None for a literal."""
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
        said = constant(number)
        forms = (f"{{0}} {symbol} {{value}}", f"torch.{name}({{0}}, {{value}})", f"{{0}}.{name}({{value}})")
        moved = lambda x: x + said if sign > 0 else x - said  # noqa: E731
        values = (lambda x: x.over(moved(x))) if out.is_complex else moved
        return Needs(first, values=values, spellings=forms, value=number)
    return Needs(first, other, values=lambda x, y: x + y if sign > 0 else x - y)


@operator(
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
    """Broadcasts, promotes dtypes, and takes numbers."""
    return _arithmetic(draw, out, "+", "add", 1)


@operator(
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
    """Broadcasts, promotes dtypes, and takes numbers."""
    return _arithmetic(draw, out, "-", "sub", -1)


@operator(
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
    """Broadcasts, promotes dtypes, and takes numbers."""
    other = _literal_or_tensor(draw, out)
    if other is not None:
        return Needs(out.free(), other, values=lambda x, y: _product(out, x, y))
    number = draw.number(out, -3, 3)
    said = constant(number)
    forms = ("{0} * {value}", "{value} * {0}", "torch.mul({0}, {value})")
    return Needs(out.free(), values=lambda x: x * said, spellings=forms, value=number)


def _product(out: Spec, x: Range, y: Range) -> Range:
    got = x * y
    return Range(got.low * 2, got.high * 2, got.exact, got.wild) if out.is_complex else got


@operator(
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
    """The divisor keeps away from zero."""
    if draw.chance(0.3):
        number = draw.choice((2, 4, 0.5, 3, 1.7, -2.5))
        forms = ("{0} / {value}", "torch.div({0}, {value})")
        return Needs(out.free(), values=lambda x: x * Range(-2, 2), spellings=forms, value=number)
    return Needs(out.free(), draw.broadcast(out).free().within(0.25, 64.0), values=lambda x, y: x * Range(-4, 4))


@operator(
    "torch.div.rounding_mode",
    'torch.div({0}, {1}, rounding_mode="{mode}")',
    '{0}.div({1}, rounding_mode="{mode}")',
    dtypes=REAL,
    exact=True,
    inplace=['{0}.div_({1}, rounding_mode="{mode}")'],
)
def rounded_div(draw: Draw, out: Spec) -> Needs:
    """Floor and truncation of exact quotients' operands."""
    other = draw.broadcast(out).free().exactly().within(1, 9)
    return Needs(out.free().exactly(), other, values=_smaller, mode=draw.choice(("floor", "trunc")))


def _smaller(x: Range, y: Range) -> Range:
    return Range(-x.most, x.most, x.exact and y.exact) if x.low < 0 else Range(0, x.most, x.exact and y.exact)


@operator("torch.floor_divide", "{0} // {1}", "torch.floor_divide({0}, {1})", dtypes=REAL, exact=True, grad=False)
def floor_divide(draw: Draw, out: Spec) -> Needs:
    """By numbers away from zero."""
    if draw.chance(0.4):
        return Needs(out.free().exactly(), values=lambda x: _smaller(x, x), spellings=("{0} // {value}",), value=3)
    return Needs(out.free().exactly(), draw.broadcast(out).free().exactly().within(1, 9), values=_smaller)


@operator(
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


@operator(
    "torch.fmod",
    "torch.fmod({0}, {1})",
    "{0}.fmod({1})",
    dtypes=REAL,
    exact=True,
    grad=False,
    inplace=["{0}.fmod_({1})"],
)
def fmod(draw: Draw, out: Spec) -> Needs:
    """Modulo positive numbers, with the sign of the first."""
    other = draw.broadcast(out).free().exactly().within(1, 9)
    return Needs(out.free().exactly(), other, values=lambda x, y: _smaller(x, y))


@operator("torch.pow", "{0} ** {1}", "torch.pow({0}, {1})", "{0}.pow({1})", dtypes=FLOATS, inplace=["{0}.pow_({1})"])
def power(draw: Draw, out: Spec) -> Needs:
    """Numbers, or positive bases to any power."""
    if draw.chance(0.6):
        exponent = draw.choice((2, 3, 0.5, -1, 1.5, 4, -0.5, 2.0, 1))
        base = out.free().within(0.1, 5.0) if exponent != abs(int(exponent)) else out.free().within(-5.0, 5.0)
        forms = ("{0} ** {value}", "torch.pow({0}, {value})", "{0}.pow({value})")
        return Needs(base, values=Range(-125 if exponent == 3 else 0, 625), spellings=forms, value=exponent)
    other = draw.broadcast(out).free().within(-2.0, 2.0)
    return Needs(out.free().within(0.2, 5.0), other, values=Range(0, 26))


@operator("torch.pow.integers", "{0} ** {value}", "torch.pow({0}, {value})", dtypes=SIGNED, exact=True)
def integer_power(draw: Draw, out: Spec) -> Needs:
    """Whole numbers squared or cubed."""
    exponent = draw.choice((2, 3))
    return Needs(out.within(-5, 5), values=Range(-125, 125, exact=True), value=exponent)


@operator("torch.float_power", "torch.float_power({0}, {value})", "{0}.float_power({value})", dtypes=["float64"])
def float_power(draw: Draw, out: Spec) -> Needs:
    """Always in double precision."""
    first = out.as_(draw.choice(("float32", "float64"))).within(0.2, 5.0)
    return Needs(first, values=Range(0, 125), value=draw.choice((2, 0.5, 3, -1.5)))


for _name, _low, _high in (("maximum", 1, 1), ("minimum", 1, 1), ("fmax", 1, 1), ("fmin", 1, 1)):

    @operator(
        f"torch.{_name}",
        f"torch.{_name}({{0}}, {{1}})",
        f"{{0}}.{_name}({{1}})",
        dtypes=REAL,
        exact=True,
        out=[f"torch.{_name}({{0}}, {{1}}, out={{out}})"],
        noun="bound",
    )
    def extreme(draw: Draw, out: Spec) -> Needs:
        """The larger or the smaller; they differ in what they make of NaN."""
        return Needs(out.free(), draw.broadcast(out).free())


@operator("torch.atan2", "torch.atan2({0}, {1})", "{0}.atan2({1})", dtypes=FLOATS, inplace=["{0}.atan2_({1})"])
def atan2(draw: Draw, out: Spec) -> Needs:
    """The second keeps away from zero, where the angle jumps."""
    return Needs(out.free(), draw.broadcast(out).free().positive(), values=Range(-3.2, 3.2))


@operator("torch.hypot", "torch.hypot({0}, {1})", "{0}.hypot({1})", dtypes=FLOATS, noun="length")
def hypot(draw: Draw, out: Spec) -> Needs:
    """One side is never zero."""
    return Needs(out.free(), draw.broadcast(out).free().positive(), values=lambda x, y: Range(0, x.most + y.most))


for _name in ("logaddexp", "logaddexp2"):

    @operator(f"torch.{_name}", f"torch.{_name}({{0}}, {{1}})", dtypes=("float32", "float64"))
    def log_of_sum(draw: Draw, out: Spec) -> Needs:
        """Of finite values."""
        given = out.free().within(-8.0, 8.0)
        return Needs(given, draw.broadcast(out).free().within(-8.0, 8.0), values=Range(-9, 10))


@operator("torch.copysign", "torch.copysign({0}, {1})", "{0}.copysign({1})", dtypes=FLOATS, exact=True)
def copysign(draw: Draw, out: Spec) -> Needs:
    """The magnitude of one, the sign of the other."""
    return Needs(out.free(), draw.broadcast(out).free().exactly(), values=lambda x, y: Range(-x.most, x.most, x.exact))


@operator("torch.nextafter", "torch.nextafter({0}, {1})", dtypes=("float32", "float64", "bfloat16"), grad=False)
def nextafter(draw: Draw, out: Spec) -> Needs:
    """The neighbour, towards the other."""
    return Needs(out.free(), draw.broadcast(out).free())


@operator("torch.ldexp", "torch.ldexp({0}, {1})", dtypes=("float32", "float64"))
def ldexp(draw: Draw, out: Spec) -> Needs:
    """Times a small power of two."""
    other = draw.broadcast(out).free().as_("int32").within(-3, 3)
    return Needs(out.free(), other, values=lambda x, y: x * Range(0, 8))


@operator("torch.xlogy", "torch.xlogy({0}, {1})", "{0}.xlogy({1})", dtypes=FLOATS)
def xlogy(draw: Draw, out: Spec) -> Needs:
    """Of positive numbers."""
    return Needs(out.free(), draw.broadcast(out).free().positive(), values=lambda x, y: x * Range(-4, 5))


@operator("torch.special.xlog1py", "torch.special.xlog1py({0}, {1})", dtypes=FLOATS)
def xlog1py(draw: Draw, out: Spec) -> Needs:
    """Of positive numbers."""
    return Needs(out.free(), draw.broadcast(out).free().positive(), values=lambda x, y: x * Range(0, 5))


@operator("torch.special.zeta", "torch.special.zeta({0}, {1})", dtypes=("float32", "float64"), grad=False)
def zeta(draw: Draw, out: Spec) -> Needs:
    """Where the sum converges quickly."""
    return Needs(out.free().within(2.0, 8.0), draw.broadcast(out).free().within(1.0, 8.0), values=Range(0, 2))


for _name in ("igamma", "igammac"):

    @operator(f"torch.{_name}", f"torch.{_name}({{0}}, {{1}})", dtypes=("float32", "float64"), grad=False)
    def incomplete_gamma(draw: Draw, out: Spec) -> Needs:
        """Of positive numbers."""
        return Needs(out.free().within(0.5, 8.0), draw.broadcast(out).free().within(0.5, 8.0), values=Range(0, 1.01))


@operator("torch.heaviside", "torch.heaviside({0}, {1})", dtypes=FLOATS + INTEGERS, exact=True, grad=False)
def heaviside(draw: Draw, out: Spec) -> Needs:
    """Of exact values."""
    return Needs(out.exactly(), draw.broadcast(out).free().exactly(), values=lambda x, y: y.over(Range(0, 1, True)))


for _name, _symbol in (("and", "&"), ("or", "|"), ("xor", "^")):

    @operator(
        f"torch.bitwise_{_name}",
        f"{{0}} {_symbol} {{1}}",
        f"torch.bitwise_{_name}({{0}}, {{1}})",
        dtypes=BOOL + INTEGERS,
        exact=True,
        inplace=[f"{{0}}.bitwise_{_name}_({{1}})", f"{{0}} {_symbol}= {{1}}"],
        out=[f"torch.bitwise_{_name}({{0}}, {{1}}, out={{out}})"],
    )
    def bitwise(draw: Draw, out: Spec) -> Needs:
        """Of whole numbers or truth values."""
        if out.dtype == "bool":
            return Needs(out, draw.broadcast(out).free())
        return Needs(out.within(0, 31), draw.broadcast(out).within(0, 31), values=Range(0, 31, exact=True))

    @operator(
        f"torch.logical_{_name}",
        f"torch.logical_{_name}({{0}}, {{1}})",
        f"{{0}}.logical_{_name}({{1}})",
        dtypes=BOOL,
        exact=True,
        noun="mask",
    )
    def logical(draw: Draw, out: Spec) -> Needs:
        """Of truth values, or numbers that are zero or not."""
        dtype = draw.choice(("bool", "bool", "int64", "float32"))
        return Needs(out.as_(dtype).exactly(), draw.broadcast(out).free().as_(dtype).exactly(), values=BOOLEAN)


@operator(
    "torch.bitwise_not",
    "~{0}",
    "torch.bitwise_not({0})",
    dtypes=BOOL + SIGNED,
    exact=True,
    inplace=["{0}.bitwise_not_()"],
)
def bitwise_not(draw: Draw, out: Spec) -> Needs:
    """Of whole numbers or truth values."""
    return Needs(out, values=lambda x: Range(-x.high - 1, -x.low - 1, exact=True))


for _name, _symbol in (("left", "<<"), ("right", ">>")):

    @operator(
        f"torch.bitwise_{_name}_shift",
        f"{{0}} {_symbol} {{1}}",
        f"torch.bitwise_{_name}_shift({{0}}, {{1}})",
        dtypes=("int64", "int32", "int16"),
        exact=True,
    )
    def shift(draw: Draw, out: Spec) -> Needs:
        """By a few bits."""
        return Needs(out.within(0, 31), draw.broadcast(out).within(0, 4), values=Range(0, 31 * 16, exact=True))


for _name in ("gcd", "lcm"):

    @operator(f"torch.{_name}", f"torch.{_name}({{0}}, {{1}})", dtypes=("int64", "int32", "int16"), exact=True)
    def divisors(draw: Draw, out: Spec) -> Needs:
        """Of small positive numbers."""
        return Needs(out.within(1, 30), draw.broadcast(out).within(1, 30), values=Range(0, 900, exact=True))


for _name, _symbol in (("eq", "=="), ("ne", "!="), ("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">=")):

    @operator(
        f"torch.{_name}",
        f"{{0}} {_symbol} {{1}}",
        f"torch.{_name}({{0}}, {{1}})",
        f"{{0}}.{_name}({{1}})",
        dtypes=BOOL,
        family="comparisons",
        exact=True,
        out=[f"torch.{_name}({{0}}, {{1}}, out={{out}})"],
        noun="mask",
    )
    def compare(draw: Draw, out: Spec, _symbol: str = _symbol) -> Needs:
        """Of exact numbers; of rounded ones with a number only, where a tie is next to impossible."""
        given = Spec(out.size, draw.choice(("float32", "float32", "int64", "float64", "int32")))
        if draw.chance(0.4) and _symbol not in ("==", "!="):
            number = draw.number(given, -1, 1)
            return Needs(given, values=BOOLEAN, spellings=(f"{{0}} {_symbol} {{value}}",), value=number)
        return Needs(given.exactly(), draw.broadcast(given).exactly(), values=BOOLEAN)


@operator("torch.isclose", "torch.isclose({0}, {1})", dtypes=BOOL, family="comparisons", noun="mask")
def isclose(draw: Draw, out: Spec) -> Needs:
    """Of exact numbers."""
    given = out.as_(draw.choice(("float32", "float64", "int64"))).exactly()
    return Needs(given, draw.broadcast(given).exactly(), values=BOOLEAN)


@operator(
    "torch.where",
    "torch.where({0}, {1}, {2})",
    "{1}.where({0}, {2})",
    dtypes=NUMBERS + BOOL,
    exact=True,
    noun="chosen",
    weight=2,
)
def where(draw: Draw, out: Spec) -> Needs:
    """One where the mask is true, the other elsewhere."""
    mask = draw.broadcast(out.as_("bool")).free().as_("bool")
    if draw.chance(0.3) and out.dtype in ("float32", "int64"):
        number = draw.number(out.exactly(), -2, 2)
        number = float(number) if out.is_float else number
        said = constant(number)
        return Needs(
            mask,
            out.free(),
            values=lambda m, x: x.over(said),
            spellings=("torch.where({0}, {1}, {value})",),
            value=number,
        )
    return Needs(mask, out.free(), draw.broadcast(out).free(), values=lambda m, x, y: x.over(y))


@operator(
    "torch.masked_fill",
    "{0}.masked_fill({1}, {value})",
    "torch.masked_fill({0}, {1}, {value})",
    dtypes=REAL,
    exact=True,
    inplace=["{0}.masked_fill_({1}, {value})", "{0}[{1}.expand_as({0})] = {value}"],
    noun="filled",
)
def masked_fill(draw: Draw, out: Spec) -> Needs:
    """A number where the mask is true."""
    number = draw.number(out.exactly(), 0, 3)
    said = constant(number)
    mask = draw.broadcast(out).free().as_("bool")
    return Needs(out.free(), mask, values=lambda x, m: x.over(said), value=number)


@operator(
    "torch.clamp",
    "torch.clamp({0}, {low}, {high})",
    "{0}.clamp(min={low}, max={high})",
    "torch.clip({0}, {low}, {high})",
    dtypes=REAL,
    exact=True,
    inplace=["{0}.clamp_({low}, {high})"],
    noun="clipped",
)
def clamp(draw: Draw, out: Spec) -> Needs:
    """To bounds that are numbers."""
    low, high = draw.choice(((0, 3), (1, 6), (0, 1), (2, 5)))
    if out.dtype != "uint8" and draw.chance(0.6):
        low = -high
    return Needs(out.free(), values=lambda x: Range(low, high, x.exact, x.wild), low=low, high=high)


@operator("torch.clamp.Tensor", "torch.clamp({0}, {1}, {2})", "{0}.clamp(min={1}, max={2})", dtypes=REAL, exact=True)
def clamp_to_tensors(draw: Draw, out: Spec) -> Needs:
    """To bounds that are tensors, at times the wrong way round."""
    return Needs(out.free(), draw.broadcast(out).free(), draw.broadcast(out).free())


for _name in ("clamp_min", "clamp_max"):

    @operator(
        f"torch.{_name}",
        f"torch.{_name}({{0}}, {{value}})",
        f"{{0}}.{_name}({{value}})",
        dtypes=REAL,
        exact=True,
        inplace=[f"{{0}}.{_name}_({{value}})"],
        noun="clipped",
    )
    def clamp_one_side(draw: Draw, out: Spec) -> Needs:
        """To one bound."""
        number = draw.number(out.exactly(), 0, 3)
        said = constant(number)
        return Needs(out.free(), values=lambda x: x.over(said), value=number)


@operator(
    "torch.lerp",
    "torch.lerp({0}, {1}, {weight})",
    "{0}.lerp({1}, {weight})",
    dtypes=FLOATS,
    inplace=["{0}.lerp_({1}, {weight})"],
)
def lerp(draw: Draw, out: Spec) -> Needs:
    """Between two tensors, by a number or a tensor."""
    if draw.chance(0.4):
        return Needs(
            out.free(),
            draw.broadcast(out).free(),
            draw.broadcast(out).free().within(0.0, 1.0),
            values=lambda x, y, w: x.over(y).inexact(),
            spellings=("torch.lerp({0}, {1}, {2})", "{0}.lerp({1}, {2})"),
        )
    return Needs(
        out.free(), draw.broadcast(out).free(), values=lambda x, y: x.over(y).inexact(), weight=draw.choice((0.3, 0.7))
    )


@operator(
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
    said = constant(number)
    others = draw.broadcast(out).free(), draw.broadcast(out).free()
    return Needs(out.free(), *others, values=lambda x, y, z: x + y * z * said, value=number)


@operator(
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


@operator("torch.rsub", "torch.rsub({0}, {1})", "{value} - {0}", dtypes=FLOATS + SIGNED, exact=True, saves=False)
def rsub(draw: Draw, out: Spec) -> Needs:
    """Subtracted from the other."""
    if draw.chance(0.5):
        number = draw.number(out.exactly(), -3, 3)
        said = constant(number)
        return Needs(
            out.free(), values=lambda x: said - x, spellings=("{value} - {0}", "torch.rsub({0}, {value})"), value=number
        )
    return Needs(out.free(), out.free(), values=lambda x, y: y - x, spellings=("torch.rsub({0}, {1})",))


@operator("torch.complex", "torch.complex({0}, {1})", dtypes=COMPLEX, family="complex", noun="z")
def complex_(draw: Draw, out: Spec) -> Needs:
    """Of two real parts."""
    part = out.as_(_COMPLEX_WIDTH[out.dtype])
    return Needs(part, part, values=lambda x, y: x.over(y))


@operator("torch.polar", "torch.polar({0}, {1})", dtypes=COMPLEX, family="complex", noun="z")
def polar(draw: Draw, out: Spec) -> Needs:
    """Of magnitude and angle."""
    part = out.as_(_COMPLEX_WIDTH[out.dtype])
    return Needs(part.positive(), part.within(-3.0, 3.0), values=lambda r, a: Range(-r.most, r.most))


@operator("torch.dist", "torch.dist({0}, {1}, p={p})", dtypes=("float32", "float64"), rank=(0, 0), noun="distance")
def dist(draw: Draw, out: Spec) -> Needs:
    """The norm of the difference."""
    size = tuple(draw.size(9) for _ in range(draw.integer(1, 3)))
    given = out.of(*size)
    if given.numel == 0:
        raise Unfit("empty")
    return Needs(given, given, values=lambda x, y: Range(0, (x.most + y.most) * given.numel), p=draw.choice((1, 2, 2)))
