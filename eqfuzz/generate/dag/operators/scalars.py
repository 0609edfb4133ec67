"""Python numbers: read off tensors and sizes, calculated with, and used by tensor operators."""

from __future__ import annotations

from functools import partial

from eqfuzz.generate.dag.draw import Draw
from eqfuzz.generate.dag.operator import Needs, operator
from eqfuzz.generate.dag.spec import BOOLEAN, FLOATS, WIDE, Range, Spec, Unfit, scalar

_PLAIN = (*FLOATS, "int64", "int32")
_number = partial(operator, family="scalars", rank=(-1, -1), grad=False, exact=True)
_tensor = partial(operator, family="scalars", weight=2)


def _some_tensor(draw: Draw, *dtypes: str, rank: int = 1) -> Spec:
    """A small tensor that has elements."""
    size = tuple(draw.size(9) for _ in range(draw.integer(rank, 3)))
    return Spec(size, draw.choice(dtypes))


def _exactly(spec: Spec) -> Spec:
    return spec.exactly().within(-8, 8)


# Whole numbers


@_number("scalar: item", "{0}.item()", "int({0})", "{0}.tolist()", dtypes=("int64",), noun="count")
def whole_item(draw: Draw, out: Spec) -> Needs:
    """The number in a tensor without dimensions."""
    return Needs(_exactly(Spec((), "int64")))


@_number(
    "scalar: reduced",
    "int({0}.sum())",
    "{0}.sum().item()",
    "int(torch.max({0}))",
    "{0}.min().item()",
    "int(({0} > 0).sum())",
    "torch.count_nonzero({0}).item()",
    "int({0}.flatten()[-1])",
    "sum({0}.flatten().tolist())",
    "len({0}.nonzero())",
    dtypes=("int64",),
    noun="count",
)
def whole_reduced(draw: Draw, out: Spec) -> Needs:
    """A whole number computed from the values of a tensor."""
    given = _exactly(_some_tensor(draw, "int64", "int64", "int32"))
    return Needs(given, values=lambda x: x.times(given.numel).over(Range(0, given.numel, exact=True)))


@_number(
    "scalar: size",
    "{0}.shape[{k}]",
    "{0}.size({k})",
    "len({0})",
    "{0}.numel()",
    "{0}.dim()",
    "{0}.ndim",
    "{0}.element_size()",
    "math.prod({0}.shape)",
    "{0}.shape[-1] * 2 - 1",
    "{0}.size()[{k}:].numel()",
    "max({0}.shape)",
    dtypes=("int64",),
    noun="size",
)
def size(draw: Draw, out: Spec) -> Needs:
    """A size, or the number of elements or dimensions."""
    given = _some_tensor(draw, "float32", "int64")
    return Needs(given, values=Range(1, max(17, 2 * given.numel), exact=True), k=draw.axis(given))


for _symbol, _name in (("+", "add"), ("-", "sub"), ("*", "mul"), ("//", "floordiv"), ("%", "mod")):

    @_number(
        f"scalar: {_name}",
        f"{{0}} {_symbol} (abs({{1}}) + 1)" if _symbol in "//%" else f"{{0}} {_symbol} {{1}}",
        dtypes=("int64",),
        noun="count",
    )
    def whole_arithmetic(draw: Draw, out: Spec, _symbol: str = _symbol) -> Needs:
        """Of two whole numbers; the divisor is positive."""
        return Needs(scalar("int64", -4, 8), scalar("int64", -4, 8), values=partial(_of_arithmetic, _symbol))


def _of_arithmetic(symbol: str, x: Range, y: Range) -> Range:
    if symbol in "+-*":
        return x + y if symbol == "+" else x - y if symbol == "-" else x * y
    return Range(-x.most - 1, x.most + 1, True) if symbol == "//" else Range(0, y.most + 1, True)


@_number(
    "scalar: choice",
    "max({0}, {1})",
    "min({0}, {1})",
    "{0} if {0} > {1} else {1}",
    "max({0}, {1}, 0)",
    "abs({0} - {1})",
    "-{0} + {1}",
    "int({0} > {1})",
    "({0} > 1) + ({1} > 1)",
    "[{0}, {1}][{0} % 2]",
    dtypes=("int64",),
    noun="count",
)
def whole_choice(draw: Draw, out: Spec) -> Needs:
    """One of two whole numbers, or how they compare."""
    both = scalar("int64", -4, 8), scalar("int64", -4, 8)
    return Needs(*both, values=lambda x, y: (x - y).over(y - x, x, y, Range(0, 2, True)))


@_number(
    "scalar: power",
    "{0} ** 2",
    "pow({0}, 2)",
    "{0} << 1",
    "{0} & 7",
    "divmod({0}, 3)[0]",
    "math.isqrt(abs({0}))",
    "abs({0}).bit_length()",
    "int({0} / 2)",
    dtypes=("int64",),
    noun="count",
)
def whole_power(draw: Draw, out: Spec) -> Needs:
    """A function of one whole number."""
    values = lambda x: Range(-2 * x.most - 1, max(x.most**2, 7, 2 * x.most), True)  # noqa: E731
    return Needs(scalar("int64", -4, 8), values=values)


@_number(
    "scalar: int",
    "int({0}.item())",
    "math.floor({0}.item())",
    "round({0}.item())",
    "math.ceil({0}.item())",
    "int({0})",
    dtypes=("int64",),
    noun="count",
)
def whole_of_float(draw: Draw, out: Spec) -> Needs:
    """A rounded number, made of an exact one."""
    return Needs(_exactly(Spec((), draw.choice(WIDE))), values=lambda x: Range(x.low - 1, x.high + 1, True))


# Numbers with a fraction


@_number("scalar: float item", "{0}.item()", "float({0})", "{0}.tolist()", dtypes=("float64",), noun="scale")
def float_item(draw: Draw, out: Spec) -> Needs:
    """The number in a tensor without dimensions."""
    return Needs(_exactly(Spec((), draw.choice((*WIDE, "bfloat16")))))


@_number(
    "scalar: float reduced",
    "{0}.sum().item()",
    "float({0}.max())",
    "{0}.amin().item()",
    "float({0}.abs().sum())",
    "sum({0}.flatten().tolist())",
    "{0}.flatten()[0].item() * 0.5",
    dtypes=("float64",),
    noun="scale",
)
def float_reduced(draw: Draw, out: Spec) -> Needs:
    """A number computed from the values of a tensor."""
    given = _exactly(_some_tensor(draw, "float32", "float64"))
    most = lambda x: x.most * given.numel  # noqa: E731
    return Needs(given, values=lambda x: Range(-most(x), most(x), x.exact))


@_number("scalar: mean", "{0}.mean().item()", "float({0}.std(correction=0))", dtypes=("float64",), noun="scale")
def float_mean(draw: Draw, out: Spec) -> Needs:
    """A number that was rounded on the way."""
    given = _some_tensor(draw, "float32", "float64").within(-8, 8)
    return Needs(given, values=lambda x: Range(-x.most - 0.1, 2 * x.most + 0.1))


@_number(
    "scalar: float of whole",
    "float({0})",
    "{0} / 2",
    "{0} * 0.5",
    "{0} / (abs({0}) + 1)",
    "math.sqrt(abs({0}) + 1)",
    "(abs({0}) + 1) ** 0.5",
    "1 / (abs({0}) + 1)",
    "(abs({0}) + 1) ** -0.5",
    dtypes=("float64",),
    noun="scale",
)
def float_of_whole(draw: Draw, out: Spec) -> Needs:
    """A quotient or a root of a whole number, as scales are computed from sizes."""
    if out.exact:
        raise Unfit("rounds")
    return Needs(scalar("int64", 1, 16), values=lambda x: Range(-x.most - 1, x.most + 1.5))


@_number(
    "scalar: float arithmetic",
    "{0} + {1}",
    "{0} - {1}",
    "{0} * {1}",
    "max({0}, {1})",
    "min({0}, 2 * {1})",
    "abs({0}) + {1}",
    "-{0}",
    "{0} ** 2",
    "{0} / (abs({1}) + 1)",
    dtypes=("float64",),
    noun="scale",
)
def float_arithmetic(draw: Draw, out: Spec) -> Needs:
    """Of two numbers."""
    if out.exact:
        raise Unfit("may round")
    values = lambda x, y: Range(-1, 1) * Range(x.most, (x.most + 1) * (max(x.most, y.most) + 2))  # noqa: E731
    return Needs(scalar("float64", -2, 2), scalar("float64", -2, 2), values=values)


@_number(
    "scalar: float function",
    "math.sqrt(abs({0}) + 0.5)",
    "math.sin({0})",
    "math.tanh({0})",
    "math.log(abs({0}) + 1)",
    "math.exp(-abs({0}))",
    "math.atan2({0}, 2.0)",
    "float(int({0} > 0)) + {0}",
    dtypes=("float64",),
    noun="scale",
)
def float_function(draw: Draw, out: Spec) -> Needs:
    """A function of the math module."""
    if out.exact:
        raise Unfit("rounds")
    return Needs(_scalar_exactly("float64"), values=lambda x: Range(-x.most - 3, x.most + 3))


def _scalar_exactly(dtype: str) -> Spec:
    return scalar(dtype, -3, 3).exactly()


# Truth values


@_number(
    "scalar: comparison",
    "{0} > {1}",
    "{0} <= {1}",
    "{0} == {1}",
    "{0} % 2 == 0",
    "bool({0})",
    "0 < {0} < {1}",
    "not {0}",
    "{0} > 0 and {1} > 0",
    "{0} > 3 or {1} != 2",
    dtypes=("bool",),
    noun="flag",
)
def comparison(draw: Draw, out: Spec) -> Needs:
    """What two whole numbers are to each other."""
    return Needs(scalar("int64", -4, 8), scalar("int64", -4, 8), values=BOOLEAN)


@_number(
    "scalar: test",
    "bool(({0} > 0).any())",
    "({0} > 0).all().item()",
    "bool({0}.sum() > 1)",
    "{0}.shape[0] > 3",
    "{0}.shape[0] % 2 == 0",
    "{0}.numel() == 0",
    "torch.equal({0}, {0} * 2)",
    "{0}.is_floating_point()",
    "bool({0}.max() == {0}.min())",
    "3 in {0}.shape",
    dtypes=("bool",),
    noun="flag",
)
def test(draw: Draw, out: Spec) -> Needs:
    """Something about a tensor of exact values that holds or does not."""
    return Needs(_exactly(_some_tensor(draw, "float32", "int64")), values=BOOLEAN)


# Tensors that take numbers


def _fitting(out: Spec) -> Spec:
    """A number that does not change the dtype of a tensor, exact where that is to be."""
    if not out.is_float:
        return scalar("int64", -4, 4)
    return scalar("int64", -2, 3) if out.exact else scalar("float64", -2, 2)


_ARITHMETIC = (
    ("add", "{0} + {1}", "torch.add({0}, {1})", "{1} + {0}"),
    ("sub", "{0} - {1}", "{1} - {0}", "torch.rsub({0}, {1})"),
    ("mul", "{0} * {1}", "torch.mul({0}, {1})", "{1} * {0}"),
)

for _name, *_forms in _ARITHMETIC:

    @_tensor(f"torch.{_name}.Scalar", *_forms, dtypes=_PLAIN, exact=True)
    def with_number(draw: Draw, out: Spec, _name: str = _name) -> Needs:
        """A tensor and a number."""
        other = scalar("int64", -4, 4) if draw.chance(0.4) else _fitting(out)
        values = lambda x, s: x * s if _name == "mul" else (x - s).over(s - x, x + s)  # noqa: E731
        return Needs(out.free(), other, values=values)


@_tensor(
    "scalar: scaled",
    "{0} / (abs({1}) + 1)",
    "torch.div({0}, abs({1}) + 1)",
    "{0} * (1 / (1 + abs({1})))",
    "{0} * 2.0 / max({1}, 1)",
    "{0} * min(abs({1}), 2)",
    dtypes=FLOATS,
)
def scaled(draw: Draw, out: Spec) -> Needs:
    """A tensor times or over something that a number decides."""
    return Needs(out.free(), _fitting(out), values=lambda x, s: x * Range(-2.1, 2.1))


@_tensor(
    "scalar: size arithmetic",
    "{0} * {0}.shape[{k}]",
    "{0} / {0}.shape[{k}]",
    "{0} - len({0})",
    "{0} * ({0}.numel() ** -0.5)",
    "{0} / math.sqrt({0}.size({k}))",
    "{0} * ({0}.shape[{k}] % 3)",
    "{0} + {0}.shape[{k}] // 2",
    "{0} * max({0}.shape[0] - 2, 1)",
    dtypes=WIDE,
    rank=(1, 4),
)
def size_arithmetic(draw: Draw, out: Spec) -> Needs:
    """A tensor and its own sizes, which may change."""
    if out.numel == 0:
        raise Unfit("divides by a size")
    most = float(max(20, *(int(n) for n in out.shape)))
    return Needs(out.free(), values=lambda x: (x * Range(-most, most)).over(x + Range(-most, most)), k=draw.axis(out))


@_tensor(
    "scalar: full",
    "torch.full({size}, {0}, dtype=torch.{dtype})",
    "torch.ones({size}, dtype=torch.{dtype}) * {0}",
    "torch.zeros({size}, dtype=torch.{dtype}).fill_({0})",
    "torch.zeros({size}, dtype=torch.{dtype}).add_({0})",
    "torch.tensor({0}, dtype=torch.{dtype}).repeat({size})",
    dtypes=_PLAIN,
    exact=True,
)
def full(draw: Draw, out: Spec) -> Needs:
    """A tensor of one number."""
    return Needs(_fitting(out), size=out.shape, dtype=out.dtype)


@_tensor(
    "scalar: full like",
    "torch.full_like({0}, {1})",
    "{0}.new_full({size}, {1})",
    "{0}.clone().fill_({1})",
    "torch.full_like({0}, {1}) + {0}",
    dtypes=_PLAIN,
    exact=True,
    grad=False,
)
def full_like(draw: Draw, out: Spec) -> Needs:
    """A tensor of one number, like another."""
    return Needs(out.free(), _fitting(out), values=lambda x, s: s.over(x + s), size=out.shape)


@_tensor(
    "scalar: where",
    "torch.where({0}, {1}, {cast}({2}))",
    "torch.where({0}, {cast}({2}), {1})",
    "{1}.masked_fill({0}, {cast}({2}))",
    "torch.where(({1} > {2}) & {0}, {1}, {cast}({2}))",
    dtypes=("float32", "float64", "int64"),
    exact=True,
    noun="chosen",
)
def where(draw: Draw, out: Spec) -> Needs:
    """A number where a mask says so; a whole one would change the dtype of floats."""
    cast = "float" if out.is_float else "int"
    return Needs(
        Spec(out.size, "bool"), out.exactly(), scalar("int64", -4, 4), values=lambda m, x, s: x.over(s), cast=cast
    )


@_tensor(
    "scalar: clamp",
    "torch.clamp({0}, max={1})",
    "{0}.clamp(min=-abs({1}) - 1, max=abs({1}) + 1)",
    "{0}.clamp_min({1})",
    "torch.clamp({0}, {1}, {1} + 2)",
    dtypes=_PLAIN,
    exact=True,
    noun="clipped",
)
def clamp(draw: Draw, out: Spec) -> Needs:
    """To bounds that are numbers computed before."""
    one = Range(-3, 3, exact=True)
    return Needs(out.free(), _fitting(out), values=lambda x, s: x.over(s + one, one - s))


@_tensor(
    "scalar: alpha",
    "torch.add({0}, {1}, alpha={2})",
    "torch.sub({0}, {1}, alpha={2})",
    "{0} + {1} * {2}",
    "torch.addcmul({0}, {1}, {1}, value={2})",
    dtypes=_PLAIN,
    exact=True,
)
def alpha(draw: Draw, out: Spec) -> Needs:
    """A sum with a multiple."""
    values = lambda x, y, s: x + (y * s).over(-(y * s), y * y * s)  # noqa: E731
    return Needs(out.free(), out.within(-32, 32), _fitting(out), values=values)


@_tensor(
    "scalar: function",
    "F.leaky_relu({0}, abs({1}) * 0.1)",
    "F.elu({0}, alpha=abs({1}) * 0.1 + 0.5)",
    "torch.lerp({0}, {0}.tanh(), min(abs({1}), 1.0))",
    "F.hardtanh({0}, -abs({1}) - 1, abs({1}) + 1)",
    "torch.sin({0} * {1})",
    "({0} * {1}).tanh()",
    "{0} ** (int(abs({1})) % 2 + 1)",
    "F.softplus({0}, beta=abs({1}) + 0.5)",
    dtypes=WIDE,
)
def function(draw: Draw, out: Spec) -> Needs:
    """A function that a number is a setting of."""
    values = lambda x, s: Range(-x.most * (s.most + 1) - 2, x.most**2 + x.most * (s.most + 1) + 4)  # noqa: E731
    return Needs(out.within(-8, 8), scalar("float64", -2, 2).exactly(), values=values)


@_tensor(
    "scalar: conditional",
    "({0} if {2} else {1}) + 1",
    "[{1}, {0}][{2}] * 2",
    "{0} * 2 if {2} else {0} - {1}",
    "(lambda a, b: a if {2} else b)({0}, {1}).neg()",
    dtypes=_PLAIN,
    exact=True,
)
def conditional(draw: Draw, out: Spec) -> Needs:
    """One of two tensors, as a truth value says; never handed on as it came in, with memory that it shares."""
    one = Range(1, 1, exact=True)
    values = lambda x, y, s: x.over(-x, -y, x + x, y + y, x - y, x + one, y + one)  # noqa: E731
    return Needs(out.free(), out.free(), scalar("bool", 0, 1), values=values)


@_tensor(
    "scalar: arange",
    "torch.arange({0}, {0} + {n})",
    "torch.arange({n}) * {0}",
    "{0} + torch.arange({n})",
    "torch.arange(0, {n}) // (abs({0}) + 1)",
    "torch.arange({n}).remainder(abs({0}) + 1)",
    dtypes=("int64",),
    rank=(1, 1),
    exact=True,
)
def arange(draw: Draw, out: Spec) -> Needs:
    """Counted from a number on, or in its steps."""
    n = out.shape[0]
    upto = Range(0, max(int(n), 17), exact=True)
    return Needs(scalar("int64", -4, 8), values=lambda s: (s + upto).over(s * upto, upto), n=n)


@_tensor(
    "scalar: moved",
    "torch.roll({0}, {1}, {dim})",
    "{0}.roll(shifts={1}, dims={dim})",
    "torch.cat([{0}.narrow({dim}, abs({1}) % {n}, 1)] * {n}, {dim})",
    "{0}.select({dim}, abs({1}) % {n}).unsqueeze({dim}).expand({size}).contiguous() * 1",
    "torch.stack([{0}, {0} + {0}])[{1} % 2].clone()",
    dtypes=_PLAIN,
    rank=(1, 4),
    exact=True,
)
def moved(draw: Draw, out: Spec) -> Needs:
    """Elements from a place that a number names."""
    if out.numel == 0:
        raise Unfit("empty")
    dim = draw.axis(out)
    params = {"dim": dim, "size": out.shape}
    return Needs(out.free(), scalar("int64", -4, 8), values=lambda x, s: x.over(x + x), n=out.shape[dim], **params)


@_tensor(
    "scalar: size from number",
    "{0} + torch.ones(abs({1}) % 4 + 1, dtype=torch.{dtype}).sum()",
    "{0} * torch.arange(abs({1}) % 5).sum().to(torch.{dtype})",
    "{0}.unsqueeze(0).expand(abs({1}) % 3 + 1, *{0}.shape).sum(0)",
    "torch.cat([{0}.reshape(-1)] * (abs({1}) % 3 + 1))[:{0}.numel()].reshape({size})",
    "sum([{0} for _ in range(abs({1}) % 3 + 1)])",
    "F.pad({0}.flatten(), (0, abs({1}) % 3))[:{0}.numel()].reshape({size}) * 2",
    dtypes=("float32", "float64", "int64"),
    rank=(1, 3),
    exact=True,
)
def size_from_number(draw: Draw, out: Spec) -> Needs:
    """A size that a number decides, reduced or cut to a known one."""
    upto = Range(0, 10, exact=True)
    values = lambda x, s: x.over(x + upto, x * upto)  # noqa: E731
    return Needs(out.free(), scalar("int64", -4, 8), values=values, dtype=out.dtype, size=out.shape)


@_tensor(
    "scalar: tensor",
    "torch.tensor({0}, dtype=torch.{dtype})",
    "torch.scalar_tensor({0}, dtype=torch.{dtype})",
    "torch.as_tensor({0}).to(torch.{dtype}) + 0",
    "torch.tensor([{0}, {1}], dtype=torch.{dtype}).sum()",
    "torch.stack([torch.tensor({0}), torch.tensor({1})]).amax().to(torch.{dtype})",
    dtypes=("float32", "float64", "int64"),
    rank=(0, 0),
    exact=True,
)
def tensor(draw: Draw, out: Spec) -> Needs:
    """A tensor made of numbers."""
    return Needs(_fitting(out), _fitting(out), values=lambda x, y: x.over(y, x + y), dtype=out.dtype)


@_tensor(
    "scalar: from bool",
    "{0} * {1}",
    "{0} + int({1})",
    "{0} - int(not {1})",
    "{0} * (1 + {1})",
    dtypes=_PLAIN,
    exact=True,
)
def from_bool(draw: Draw, out: Spec) -> Needs:
    """A truth value as a number."""
    one = Range(1, 1, exact=True)
    values = lambda x, s: x.over(x + x, x + one, x - one, Range(0, 0, exact=True))  # noqa: E731
    return Needs(out.free(), scalar("bool", 0, 1), values=values)
