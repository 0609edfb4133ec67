"""Operators that reduce dimensions: sums, means, products, spreads, norms."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from eqfuzz.generate.dag.catalogue.operator import Needs, operator
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.reduced_sizes import apart, cut, finite, reducing, spellings
from eqfuzz.generate.dag.values.spec import BOOL, BOOLEAN, FLOATS, WIDE, Range, Spec, UnsatisfiableSpec


def _summand(draw: Draw, out: Spec) -> tuple[Spec, str]:
    """What adds up to the dtype of ``out``, and the keyword that says so where it is needed."""
    if out.dtype == "int64":
        dtype = draw.choice(("int64", "int64", "int32", "int16", "uint8", "bool"))
        return out.as_(dtype), "dtype=torch.int64" if draw.chance(0.1) else ""
    if out.dtype in WIDE and draw.chance(0.12):
        return finite(out.as_(draw.choice(("float32", "int64", "float64")))), f"dtype=torch.{out.dtype}"
    return finite(out), ""


@operator(
    "torch.sum",
    *spellings("sum"),
    dtypes=(*FLOATS, "int64", "complex64"),
    exact=True,
    saves=False,
    noun="total",
    weight=2,
)
def sum_(draw: Draw, out: Spec) -> Needs:
    """Over one dimension, several or all; whole numbers and truth values add up to int64."""
    asked, more = _summand(draw, out)
    return reducing(out, cut(draw, out), asked, Range.times, more)


@operator(
    "torch.sum.out",
    *spellings("sum"),
    dtypes=(*FLOATS, "int64"),
    rank=(0, 4),
    exact=True,
    saves=False,
    out=["torch.sum({0}, {how}, out={out})"],
    noun="total",
)
def sum_into(draw: Draw, out: Spec) -> Needs:
    """Over named dimensions, at times into a tensor that is there."""
    return reducing(out, cut(draw, out, full=False), finite(out), Range.times)


@operator("torch.mean", *spellings("mean"), dtypes=(*FLOATS, "complex64"), saves=False, noun="mean", weight=2)
def mean(draw: Draw, out: Spec) -> Needs:
    """Over one dimension, several or all."""
    given = cut(draw, out)
    if out.dtype in WIDE and draw.chance(0.12):
        asked = finite(out.as_(draw.choice(("float32", "int64", "float64"))))
        return reducing(out, given, asked, lambda x, n: x.inexact(), f"dtype=torch.{out.dtype}")
    return reducing(out, given, finite(out), lambda x, n: x.inexact())


for _name in ("nansum", "nanmean"):

    @operator(f"torch.{_name}", *spellings(_name, brief=False), dtypes=FLOATS, noun="total")
    def without_nan(draw: Draw, out: Spec, _name: str = _name) -> Needs:
        """Over what is not NaN; NaN is put in where a mask says so."""
        given = cut(draw, out)
        asked = finite(out).within(-1024.0, 1024.0)
        wild = _name == "nanmean"
        values = lambda x, *_: dataclasses.replace(x.times(given.count).inexact(), wild=wild)  # noqa: E731
        first = dataclasses.replace(asked, size=given.size)
        if draw.chance(0.5):
            return Needs(first, values=lambda x: x.times(given.count).inexact(), how=given.how, brief=given.brief)
        filled = "{0}.masked_fill({1}, torch.nan)"
        forms = (f"torch.{_name}({filled}, {{how}})", f"{filled}.{_name}({{how}})")
        return Needs(first, first.free().as_("bool"), values=values, spellings=forms, how=given.how)


def _product_of(x: Range, count: int) -> Range:
    bound = max(x.most, 1.0) ** count
    return Range(0 if x.low >= 0 else -bound, bound)


@operator("torch.prod", *spellings("prod"), dtypes=(*WIDE, "int64"), noun="product")
def prod(draw: Draw, out: Spec) -> Needs:
    """Over one dimension or all, of few small numbers."""
    given = cut(draw, out, several=False, longest=9)
    if given.count > 40:
        raise UnsatisfiableSpec("too many factors")
    if out.dtype == "int64":
        bound = 3 if given.count <= 20 else 1
        return reducing(out, given, out.as_(draw.choice(("int64", "int32"))).within(-bound, bound), _product_of)
    return reducing(out, given, out.within(-1.25, 1.25), _product_of)


for _name in ("all", "any"):

    @operator(f"torch.{_name}", *spellings(_name), dtypes=BOOL, exact=True, noun="mask")
    def every(draw: Draw, out: Spec) -> Needs:
        """Of truth values, or of exact numbers that are zero or not."""
        asked = out.as_(draw.choice(("bool", "bool", "bool", "float32", "int64"))).exactly()
        return reducing(out, cut(draw, out), asked, lambda x, n: BOOLEAN)


@operator("torch.count_nonzero", dtypes=("int64",), rank=(0, 4), exact=True, noun="count")
def count_nonzero(draw: Draw, out: Spec) -> Needs:
    """Of exact numbers or truth values."""
    given = cut(draw, out, keep=False)
    asked = Spec(given.size, draw.choice(("bool", "float32", "int64", "uint8"))).exactly()
    how = given.how.replace(", keepdim=False", "")
    forms = ("torch.count_nonzero({0}, {how})", "{0}.count_nonzero({how})")
    return Needs(asked, values=Range(0, given.count, exact=True), spellings=forms, how=how)


_CORRECTIONS = ("", "", "correction=0", "correction=1", "unbiased=False", "unbiased=True")


def _spread(draw: Draw, out: Spec, root: bool, certain: bool = False) -> Needs:
    given = cut(draw, out, fewest=2)
    asked = apart(out) if certain else out.within(-32.0, 32.0)
    more = draw.choice(_CORRECTIONS)
    if "unbiased" in more and given.how and draw.chance(0.5):
        more = "correction=0"
    return reducing(out, given, asked, lambda x, n: _deviation(x, root), more)


def _deviation(x: Range, root: bool) -> Range:
    width = x.high - x.low
    return Range(0, width if root else width**2)


@operator("torch.var", *spellings("var", brief=False), dtypes=FLOATS, noun="variance")
def var(draw: Draw, out: Spec) -> Needs:
    """Of at least two elements, corrected or not."""
    return _spread(draw, out, False)


@operator("torch.std", *spellings("std", brief=False), dtypes=FLOATS, grad=False, noun="deviation")
def std(draw: Draw, out: Spec) -> Needs:
    """Of at least two elements; where all are equal, its gradient would be made of rounding."""
    return _spread(draw, out, True)


@operator("torch.std.distinct", *spellings("std", brief=False), dtypes=WIDE, noun="deviation")
def std_of_distinct(draw: Draw, out: Spec) -> Needs:
    """Of elements that differ, so that there is a gradient."""
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
            return Needs(
                *plain.inputs, values=values, outputs=(out, out), picked=picked, spellings=[form], **plain.params
            )
        return Needs(*plain.inputs, values=values, spellings=[f"{form}[{picked}]"], **plain.params)


_ORDERS = {"1": 1.0, "2": 0.5, "float('inf')": 0.0, "3": 0.5, "-float('inf')": 0.0}
"""Orders of norms, with the power of the count by which they are bounded."""


def _norm(draw: Draw, out: Spec, forms: Sequence[str], orders: Sequence[str], several: bool = True) -> Needs:
    order = draw.choice(orders)
    given = cut(draw, out, several=several)
    asked = out.of(*given.size).within(-64.0, 64.0)
    values = lambda x: Range(0, x.most * given.count ** _ORDERS.get(order, 0.5) * 1.01)  # noqa: E731
    return Needs(asked, values=values, spellings=forms, how=given.how, order=order)


@operator("torch.linalg.vector_norm", dtypes=FLOATS, noun="length")
def vector_norm(draw: Draw, out: Spec) -> Needs:
    """Of the orders 1, 2, 3 and infinity."""
    if draw.chance(0.3):
        return _norm(draw, out, ("torch.linalg.vector_norm({0}, {how})",), ("2",))
    forms = ("torch.linalg.vector_norm({0}, ord={order}, {how})", "torch.linalg.vector_norm({0}, {order}, {how})")
    return _norm(draw, out, forms, tuple(_ORDERS))


@operator("torch.norm", dtypes=FLOATS, noun="length")
def norm(draw: Draw, out: Spec) -> Needs:
    """As it was written before there was `torch.linalg`."""
    if draw.chance(0.3):
        return _norm(draw, out, ("torch.norm({0}, {how})", "{0}.norm({how})"), ("2",), several=False)
    forms = ("torch.norm({0}, p={order}, {how})", "{0}.norm({order}, {how})", "{0}.norm(p={order}, {how})")
    return _norm(draw, out, forms, ("1", "2", "float('inf')", "3", "2"))


@operator("torch.linalg.norm", dtypes=WIDE, noun="length")
def linalg_norm(draw: Draw, out: Spec) -> Needs:
    """Without an order: the root of the sum of squares."""
    given = cut(draw, out, several=False)
    values = lambda x: Range(0, x.most * given.count**0.5 * 1.01)  # noqa: E731
    asked = out.of(*given.size).within(-64.0, 64.0)
    return Needs(asked, values=values, spellings=("torch.linalg.norm({0}, {how})",), how=given.how)


@operator("torch.logsumexp", *spellings("logsumexp"), dtypes=FLOATS, noun="score")
def logsumexp(draw: Draw, out: Spec) -> Needs:
    """Over one dimension or several, of moderate numbers."""
    values = lambda x, n: Range(x.low, x.high + math.log(n) + 0.1)  # noqa: E731
    return reducing(out, cut(draw, out, full=False), out.within(-16.0, 16.0), values)


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
    return Needs(finite(out.of(*size)), values=lambda x: x.times(min(size)))
