"""Reductions: sums, means, products, variances, norms."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from eqfuzz.generate.dag.catalogue.operator import Needs, operator
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.reduced_sizes import call_forms, draw_reduction, reduction_needs, summable, without_ties
from eqfuzz.generate.dag.values.spec import BOOL, BOOLEAN, FLOATS, WIDE, Range, Spec, UnsatisfiableSpec


def _summand(draw: Draw, out: Spec) -> tuple[Spec, str]:
    """An input whose sum has the dtype of ``out``, and the keyword argument that this requires."""
    if out.dtype == "int64":
        dtype = draw.choice(("int64", "int64", "int32", "int16", "uint8", "bool"))
        return out.as_(dtype), "dtype=torch.int64" if draw.chance(0.1) else ""
    if out.dtype in WIDE and draw.chance(0.12):
        return summable(out.as_(draw.choice(("float32", "int64", "float64")))), f"dtype=torch.{out.dtype}"
    return summable(out), ""


@operator(
    "torch.sum",
    *call_forms("sum"),
    dtypes=(*FLOATS, "int64", "complex64"),
    exact=True,
    saves=False,
    name_hint="total",
    weight=2,
)
def sum_(draw: Draw, out: Spec) -> Needs:
    """Over one dimension, several or all; integers and booleans are summed in int64."""
    operand, more = _summand(draw, out)
    return reduction_needs(out, draw_reduction(draw, out), operand, Range.times, more)


@operator(
    "torch.sum.out",
    *call_forms("sum"),
    dtypes=(*FLOATS, "int64"),
    rank=(0, 4),
    exact=True,
    saves=False,
    out=["torch.sum({0}, {how}, out={out})"],
    name_hint="total",
)
def sum_into(draw: Draw, out: Spec) -> Needs:
    """Over named dimensions, sometimes with ``out=``."""
    return reduction_needs(out, draw_reduction(draw, out, full=False), summable(out), Range.times)


@operator("torch.mean", *call_forms("mean"), dtypes=(*FLOATS, "complex64"), saves=False, name_hint="mean", weight=2)
def mean(draw: Draw, out: Spec) -> Needs:
    """Over one dimension, several or all."""
    reduction = draw_reduction(draw, out)
    if out.dtype in WIDE and draw.chance(0.12):
        operand = summable(out.as_(draw.choice(("float32", "int64", "float64"))))
        return reduction_needs(out, reduction, operand, lambda x, n: x.inexact(), f"dtype=torch.{out.dtype}")
    return reduction_needs(out, reduction, summable(out), lambda x, n: x.inexact())


for _name in ("nansum", "nanmean"):

    @operator(f"torch.{_name}", *call_forms(_name, brief=False), dtypes=FLOATS, name_hint="total")
    def without_nan(draw: Draw, out: Spec, _name: str = _name) -> Needs:
        """Over elements that are not NaN; a mask puts NaN in."""
        reduction = draw_reduction(draw, out)
        operand = summable(out).within(-1024.0, 1024.0)

        def values(x: Range, *_: Range) -> Range:
            return dataclasses.replace(x.times(reduction.count).inexact(), nonfinite=_name == "nanmean")

        first = dataclasses.replace(operand, size=reduction.size)
        if draw.chance(0.5):
            return Needs(
                first, values=lambda x: x.times(reduction.count).inexact(), how=reduction.how, brief=reduction.brief
            )
        filled = "{0}.masked_fill({1}, torch.nan)"
        forms = (f"torch.{_name}({filled}, {{how}})", f"{filled}.{_name}({{how}})")
        return Needs(first, first.free().as_("bool"), values=values, forms=forms, how=reduction.how)


def _product_of(x: Range, count: int) -> Range:
    bound = max(x.most, 1.0) ** count
    return Range(0 if x.low >= 0 else -bound, bound)


@operator("torch.prod", *call_forms("prod"), dtypes=(*WIDE, "int64"), name_hint="product")
def prod(draw: Draw, out: Spec) -> Needs:
    """Over one dimension or all, of few small numbers."""
    reduction = draw_reduction(draw, out, several=False, longest=9)
    if reduction.count > 40:
        raise UnsatisfiableSpec("too many factors")
    if out.dtype == "int64":
        bound = 3 if reduction.count <= 20 else 1
        return reduction_needs(
            out, reduction, out.as_(draw.choice(("int64", "int32"))).within(-bound, bound), _product_of
        )
    return reduction_needs(out, reduction, out.within(-1.25, 1.25), _product_of)


for _name in ("all", "any"):

    @operator(f"torch.{_name}", *call_forms(_name), dtypes=BOOL, exact=True, name_hint="mask")
    def every(draw: Draw, out: Spec) -> Needs:
        """Of booleans, or of exact numbers."""
        operand = out.as_(draw.choice(("bool", "bool", "bool", "float32", "int64"))).exactly()
        return reduction_needs(out, draw_reduction(draw, out), operand, lambda x, n: BOOLEAN)


@operator("torch.count_nonzero", dtypes=("int64",), rank=(0, 4), exact=True, name_hint="count")
def count_nonzero(draw: Draw, out: Spec) -> Needs:
    """Of exact numbers or booleans."""
    reduction = draw_reduction(draw, out, keep=False)
    operand = Spec(reduction.size, draw.choice(("bool", "float32", "int64", "uint8"))).exactly()
    how = reduction.how.replace(", keepdim=False", "")
    forms = ("torch.count_nonzero({0}, {how})", "{0}.count_nonzero({how})")
    return Needs(operand, values=Range(0, reduction.count, exact=True), forms=forms, how=how)


_CORRECTIONS = ("", "", "correction=0", "correction=1", "unbiased=False", "unbiased=True")


def _spread(draw: Draw, out: Spec, root: bool, certain: bool = False) -> Needs:
    reduction = draw_reduction(draw, out, fewest=2)
    operand = without_ties(out) if certain else out.within(-32.0, 32.0)
    more = draw.choice(_CORRECTIONS)
    if "unbiased" in more and reduction.how and draw.chance(0.5):
        more = "correction=0"
    return reduction_needs(out, reduction, operand, lambda x, n: _deviation(x, root), more)


def _deviation(x: Range, root: bool) -> Range:
    width = x.high - x.low
    return Range(0, width if root else width**2)


@operator("torch.var", *call_forms("var", brief=False), dtypes=FLOATS, name_hint="variance")
def var(draw: Draw, out: Spec) -> Needs:
    """Of at least two elements, with or without Bessel's correction."""
    return _spread(draw, out, False)


@operator("torch.std", *call_forms("std", brief=False), dtypes=FLOATS, grad=False, name_hint="deviation")
def std(draw: Draw, out: Spec) -> Needs:
    """Of at least two elements; not differentiated, since for equal elements the gradient depends on rounding."""
    return _spread(draw, out, True)


@operator("torch.std.distinct", *call_forms("std", brief=False), dtypes=WIDE, name_hint="deviation")
def std_of_distinct(draw: Draw, out: Spec) -> Needs:
    """Of distinct elements, so that the gradient is defined."""
    return _spread(draw, out, True, certain=True)


for _name, _root in (("var_mean", False), ("std_mean", True)):

    @operator(f"torch.{_name}", dtypes=FLOATS, grad=not _root)
    def spread_and_mean(draw: Draw, out: Spec, _name: str = _name, _root: bool = _root) -> Needs:
        """Two results at once, of at least two elements."""
        plain = _spread(draw, out, _root)
        picked = draw.integer(0, 1)
        form = f"torch.{_name}({{0}}, {{how}})"
        values = (lambda x: _deviation(x, _root)) if picked == 0 else Range.inexact
        if draw.chance(0.5):
            return Needs(*plain.inputs, values=values, outputs=(out, out), picked=picked, forms=[form], **plain.params)
        return Needs(*plain.inputs, values=values, forms=[f"{form}[{picked}]"], **plain.params)


_ORDERS = {"1": 1.0, "2": 0.5, "float('inf')": 0.0, "3": 0.5, "-float('inf')": 0.0}
"""Orders of norms, with the power of the count by which they are bounded."""


def _norm(draw: Draw, out: Spec, forms: Sequence[str], orders: Sequence[str], several: bool = True) -> Needs:
    order = draw.choice(orders)
    reduction = draw_reduction(draw, out, several=several)
    operand = out.of(*reduction.size).within(-64.0, 64.0)
    values = lambda x: Range(0, x.most * reduction.count ** _ORDERS.get(order, 0.5) * 1.01)  # noqa: E731
    return Needs(operand, values=values, forms=forms, how=reduction.how, order=order)


@operator("torch.linalg.vector_norm", dtypes=FLOATS, name_hint="length")
def vector_norm(draw: Draw, out: Spec) -> Needs:
    """Of the orders 1, 2, 3 and infinity."""
    if draw.chance(0.3):
        return _norm(draw, out, ("torch.linalg.vector_norm({0}, {how})",), ("2",))
    forms = ("torch.linalg.vector_norm({0}, ord={order}, {how})", "torch.linalg.vector_norm({0}, {order}, {how})")
    return _norm(draw, out, forms, tuple(_ORDERS))


@operator("torch.norm", dtypes=FLOATS, name_hint="length")
def norm(draw: Draw, out: Spec) -> Needs:
    """The older interface to norms."""
    if draw.chance(0.3):
        return _norm(draw, out, ("torch.norm({0}, {how})", "{0}.norm({how})"), ("2",), several=False)
    forms = ("torch.norm({0}, p={order}, {how})", "{0}.norm({order}, {how})", "{0}.norm(p={order}, {how})")
    return _norm(draw, out, forms, ("1", "2", "float('inf')", "3", "2"))


@operator("torch.linalg.norm", dtypes=WIDE, name_hint="length")
def linalg_norm(draw: Draw, out: Spec) -> Needs:
    """Of the default order, 2."""
    reduction = draw_reduction(draw, out, several=False)
    values = lambda x: Range(0, x.most * reduction.count**0.5 * 1.01)  # noqa: E731
    operand = out.of(*reduction.size).within(-64.0, 64.0)
    return Needs(operand, values=values, forms=("torch.linalg.norm({0}, {how})",), how=reduction.how)


@operator("torch.logsumexp", *call_forms("logsumexp"), dtypes=FLOATS, name_hint="score")
def logsumexp(draw: Draw, out: Spec) -> Needs:
    """Over one dimension or several, of bounded numbers."""
    values = lambda x, n: Range(x.low, x.high + math.log(n) + 0.1)  # noqa: E731
    return reduction_needs(out, draw_reduction(draw, out, full=False), out.within(-16.0, 16.0), values)


@operator(
    "torch.trace",
    "torch.trace({0})",
    "{0}.trace()",
    dtypes=(*FLOATS, "int64", "complex64"),
    rank=(0, 0),
    exact=True,
    saves=False,
)
def trace(draw: Draw, out: Spec) -> Needs:
    """The sum along the diagonal of a matrix."""
    size = draw.size(), draw.size()
    return Needs(summable(out.of(*size)), values=lambda x: x.times(min(size)))
