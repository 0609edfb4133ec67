"""Reductions and scans with the dtype of the result as an argument."""

from __future__ import annotations

from functools import partial

from eqfuzz.generate.dag.catalogue.operator import Needs, operator
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.reduced_sizes import call_forms, draw_reduction, reduction_needs, summable
from eqfuzz.generate.dag.values.spec import FLOATS, INTEGERS, WIDE, Range, Spec, UnsatisfiableSpec, most

_reduction = partial(operator, family="reductions")

_SOURCES = ("bool", "int8", "uint8", "int16", "int32", "int64", "float32", "float16", "bfloat16", "float64")


def _source(draw: Draw, out: Spec) -> Spec:
    """An input of another dtype; exact where its fractions would be cut off."""
    operand = out.as_(draw.choice([dtype for dtype in _SOURCES if dtype != out.dtype]))
    operand = operand.exactly() if operand.is_float and not out.is_float else operand
    return operand.within(0, 8) if out.dtype == "uint8" and operand.dtype != "bool" else operand


for _name in ("sum", "nansum"):

    @_reduction(
        f"torch.{_name}.dtype",
        *call_forms(_name, brief=False),
        dtypes=(*FLOATS, *INTEGERS),
        exact=True,
        saves=False,
        grad=FLOATS if _name == "sum" else WIDE,
        name_hint="total",
    )
    def summed(draw: Draw, out: Spec) -> Needs:
        """Summed in another dtype than that of the input, a narrower one included."""
        operand = summable(_source(draw, out))
        return reduction_needs(out, draw_reduction(draw, out), operand, Range.times, f"dtype=torch.{out.dtype}")


@_reduction("torch.mean.dtype", *call_forms("mean", brief=False), dtypes=FLOATS, saves=False, name_hint="mean")
def averaged(draw: Draw, out: Spec) -> Needs:
    """The mean of integers and booleans, or in another float dtype."""
    operand = summable(_source(draw, out))
    return reduction_needs(
        out, draw_reduction(draw, out), operand, lambda x, n: x.over(-x).inexact(), f"dtype=torch.{out.dtype}"
    )


def _factors(draw: Draw, out: Spec, count: int) -> Spec:
    """An input whose products of ``count`` elements fit the dtype of ``out``."""
    operand = _source(draw, out)
    if operand.dtype == "bool":
        return operand
    bound = 2 if out.dtype in ("int64", "int32") and count <= 20 else 1
    if out.is_float and operand.is_float:
        return operand.within(-1.25, 1.25)
    return operand.within(0 if "uint8" in (operand.dtype, out.dtype) else -bound, bound)


def _product_of(out: Spec, x: Range, count: int) -> Range:
    bound = max(x.most, 1.0) ** count
    return Range(0 if x.low >= 0 else -bound, bound, exact=not out.is_float)


@_reduction(
    "torch.prod.dtype",
    *call_forms("prod", brief=False),
    dtypes=(*WIDE, *INTEGERS),
    exact=True,
    grad=WIDE,
    name_hint="product",
)
def multiplied(draw: Draw, out: Spec) -> Needs:
    """The product of few small numbers in another dtype than that of the input."""
    reduction = draw_reduction(draw, out, several=False, longest=9)
    if reduction.count > 30:
        raise UnsatisfiableSpec("too many factors")
    values = partial(_product_of, out)
    operand = _factors(draw, out, reduction.count)
    return reduction_needs(out, reduction, operand, values, f"dtype=torch.{out.dtype}")


@_reduction("torch.prod.small_integers", *call_forms("prod"), dtypes=("int64",), exact=True, name_hint="product")
def small_integers_multiplied(draw: Draw, out: Spec) -> Needs:
    """The product of booleans and small integers, which is computed in int64."""
    reduction = draw_reduction(draw, out, several=False, longest=9)
    if reduction.count > 30:
        raise UnsatisfiableSpec("too many factors")
    operand = out.as_(draw.choice(("bool", "int8", "uint8", "int16")))
    if operand.dtype != "bool":
        operand = operand.within(0 if operand.dtype == "uint8" else -2, 2)
    return reduction_needs(out, reduction, operand, partial(_product_of, out))


def _axis(draw: Draw, out: Spec) -> tuple[int, int]:
    if out.rank == 0:
        return draw.choice((0, -1)), 1
    axis = draw.axis(out)
    return draw.signed_axis(axis, out.rank), out.shape[axis]


@operator(
    "torch.cumsum.whole_dtype",
    "torch.cumsum({0}, {dim}, dtype=torch.{dtype})",
    "{0}.cumsum(dim={dim}, dtype=torch.{dtype})",
    dtypes=(*INTEGERS, "float16", "bfloat16"),
    family="scans",
    exact=True,
    grad=False,
    name_hint="total",
)
def running_sum(draw: Draw, out: Spec) -> Needs:
    """Running sums in integers or half precision, of an input of another dtype."""
    dim, n = _axis(draw, out)
    return Needs(summable(_source(draw, out)), values=lambda x: x.times(most(n)), dim=dim, dtype=out.dtype)


@operator(
    "torch.cumprod.dtype",
    "torch.cumprod({0}, {dim}, dtype=torch.{dtype})",
    "{0}.cumprod({dim}, dtype=torch.{dtype})",
    dtypes=(*WIDE, *INTEGERS),
    family="scans",
    exact=True,
    grad=WIDE,
    name_hint="product",
)
def running_product(draw: Draw, out: Spec) -> Needs:
    """Running products of small numbers, in another dtype than that of the input."""
    dim, n = _axis(draw, out)
    operand = _factors(draw, out, most(n))
    if most(n) > 17 and operand.is_float and operand.dtype != "bool":
        operand = operand.within(-1.0, 1.0)
    return Needs(operand, values=lambda x: _product_of(out, x, most(n)), dim=dim, dtype=out.dtype)


@operator(
    "torch.cumsum.small_integers",
    "torch.cumsum({0}, {dim})",
    "{0}.cumsum({dim})",
    "torch.cumprod({0}.clamp(0, 1), {dim})",
    dtypes=("int64",),
    family="scans",
    exact=True,
    name_hint="total",
)
def small_integers_scanned(draw: Draw, out: Spec) -> Needs:
    """Running sums and products of integers of eight and sixteen bits, which are computed in int64."""
    dim, n = _axis(draw, out)
    operand = out.as_(draw.choice(("int8", "uint8", "int16")))
    return Needs(operand, values=lambda x: x.times(most(n)).over(Range(0, 1, exact=True)), dim=dim)


@_reduction(
    "torch.linalg.vector_norm.dtype",
    "torch.linalg.vector_norm({0}, {order}, {how}, dtype=torch.{dtype})",
    dtypes=WIDE,
    name_hint="length",
)
def wider_norm(draw: Draw, out: Spec) -> Needs:
    """A norm that is computed in a wider dtype than that of the input."""
    order = draw.choice(("2", "1", "float('inf')"))
    reduction = draw_reduction(draw, out, full=False)
    sources = ("float16", "bfloat16") if out.dtype == "float32" else ("float32", "bfloat16")
    operand = Spec(reduction.size, draw.choice(sources)).within(-64.0, 64.0)
    values = lambda x: Range(0, x.most * reduction.count * 1.01)  # noqa: E731
    return Needs(operand, values=values, order=order, how=reduction.how, dtype=out.dtype)


@_reduction(
    "torch.logsumexp.integers",
    *call_forms("logsumexp", brief=False),
    dtypes=("float32",),
    grad=False,
    name_hint="score",
)
def of_integers(draw: Draw, out: Spec) -> Needs:
    """Of integers, whose result is a float."""
    reduction = draw_reduction(draw, out, full=False)
    operand = out.as_(draw.choice(("int64", "int32", "uint8"))).within(0, 16)
    return reduction_needs(out, reduction, operand, lambda x, n: Range(x.low, x.high + 12))


for _name in ("all", "any"):

    @_reduction(f"torch.{_name}.uint8", *call_forms(_name), dtypes=("uint8",), exact=True, name_hint="mask", weight=0.3)
    def every(draw: Draw, out: Spec) -> Needs:
        """Of eight-bit integers without a sign, whose result has their dtype."""
        return reduction_needs(out, draw_reduction(draw, out), out, lambda x, n: Range(0, 1, exact=True))
