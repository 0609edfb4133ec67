"""Python numbers: read from tensors and sizes, and arithmetic on them."""

from __future__ import annotations

from functools import partial

from eqfuzz.generate.dag.catalogue.operator import Needs, operator
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.spec import BOOLEAN, WIDE, Range, Spec, UnsatisfiableSpec, scalar

_number = partial(operator, family="scalars", rank=(-1, -1), grad=False, exact=True)


def _some_tensor(draw: Draw, *dtypes: str, rank: int = 1) -> Spec:
    """A small tensor with at least one element."""
    size = tuple(draw.size(9) for _ in range(draw.integer(rank, 3)))
    return Spec(size, draw.choice(dtypes))


def _exactly(spec: Spec) -> Spec:
    return spec.exactly().within(-8, 8)


@_number("scalar: item", "{0}.item()", "int({0})", "{0}.tolist()", dtypes=("int64",), name_hint="count")
def whole_item(draw: Draw, out: Spec) -> Needs:
    """The value of a tensor without dimensions."""
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
    name_hint="count",
)
def whole_reduced(draw: Draw, out: Spec) -> Needs:
    """An integer computed from the values of a tensor."""
    operand = _exactly(_some_tensor(draw, "int64", "int64", "int32"))
    return Needs(operand, values=lambda x: x.times(operand.numel).over(Range(0, operand.numel, exact=True)))


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
    name_hint="size",
)
def size(draw: Draw, out: Spec) -> Needs:
    """A size, or the number of elements or dimensions."""
    operand = _some_tensor(draw, "float32", "int64")
    return Needs(operand, values=Range(1, max(17, 2 * operand.numel), exact=True), k=draw.axis(operand))


for _symbol, _name in (("+", "add"), ("-", "sub"), ("*", "mul"), ("//", "floordiv"), ("%", "mod")):

    @_number(
        f"scalar: {_name}",
        f"{{0}} {_symbol} (abs({{1}}) + 1)" if _symbol in "//%" else f"{{0}} {_symbol} {{1}}",
        dtypes=("int64",),
        name_hint="count",
    )
    def whole_arithmetic(draw: Draw, out: Spec, _symbol: str = _symbol) -> Needs:
        """Of two integers; the divisor is positive."""
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
    name_hint="count",
)
def whole_choice(draw: Draw, out: Spec) -> Needs:
    """One of two integers, or the result of a comparison."""
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
    name_hint="count",
)
def whole_power(draw: Draw, out: Spec) -> Needs:
    """A function of one integer."""
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
    name_hint="count",
)
def whole_of_float(draw: Draw, out: Spec) -> Needs:
    """A float rounded to an integer, from an exact value."""
    return Needs(_exactly(Spec((), draw.choice(WIDE))), values=lambda x: Range(x.low - 1, x.high + 1, True))


@_number("scalar: float item", "{0}.item()", "float({0})", "{0}.tolist()", dtypes=("float64",), name_hint="scale")
def float_item(draw: Draw, out: Spec) -> Needs:
    """The value of a tensor without dimensions."""
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
    name_hint="scale",
)
def float_reduced(draw: Draw, out: Spec) -> Needs:
    """A number computed from the values of a tensor."""
    operand = _exactly(_some_tensor(draw, "float32", "float64"))
    most = lambda x: x.most * operand.numel  # noqa: E731
    return Needs(operand, values=lambda x: Range(-most(x), most(x), x.exact))


@_number("scalar: mean", "{0}.mean().item()", "float({0}.std(correction=0))", dtypes=("float64",), name_hint="scale")
def float_mean(draw: Draw, out: Spec) -> Needs:
    """A float whose computation rounds."""
    operand = _some_tensor(draw, "float32", "float64").within(-8, 8)
    return Needs(operand, values=lambda x: Range(-x.most - 0.1, 2 * x.most + 0.1))


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
    name_hint="scale",
)
def float_of_whole(draw: Draw, out: Spec) -> Needs:
    """A quotient or root of an integer, as scales are computed from sizes."""
    if out.exact:
        raise UnsatisfiableSpec("rounds")
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
    name_hint="scale",
)
def float_arithmetic(draw: Draw, out: Spec) -> Needs:
    """Of two numbers."""
    if out.exact:
        raise UnsatisfiableSpec("may round")
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
    name_hint="scale",
)
def float_function(draw: Draw, out: Spec) -> Needs:
    """A function of the math module."""
    if out.exact:
        raise UnsatisfiableSpec("rounds")
    return Needs(_scalar_exactly("float64"), values=lambda x: Range(-x.most - 3, x.most + 3))


def _scalar_exactly(dtype: str) -> Spec:
    return scalar(dtype, -3, 3).exactly()


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
    name_hint="flag",
)
def comparison(draw: Draw, out: Spec) -> Needs:
    """A comparison of two integers."""
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
    name_hint="flag",
)
def test(draw: Draw, out: Spec) -> Needs:
    """A predicate of a tensor of exact values."""
    return Needs(_exactly(_some_tensor(draw, "float32", "int64")), values=BOOLEAN)
