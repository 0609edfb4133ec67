"""Scans along a dimension, and histograms."""

from __future__ import annotations

import dataclasses
import math

from eqfuzz.generate.dag.catalogue.operator import Needs, operator
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.reduced_sizes import summable, tuple_result, without_ties
from eqfuzz.generate.dag.values.spec import FLOATS, REAL, SIGNED, WIDE, Dim, Range, Spec, UnsatisfiableSpec, index, most

_LOWEST, _HIGHEST = -4.5, 4.23
"""Up to 32 even bins between these have no end that is a multiple of a sixteenth, where exact numbers lie."""


def _along(draw: Draw, out: Spec) -> tuple[int, int]:
    """An axis as an argument, and its size, which is 1 for a tensor without dimensions."""
    if out.rank == 0:
        return draw.choice((0, -1)), 1
    axis = draw.axis(out)
    return draw.signed_axis(axis, out.rank), out.shape[axis]


def _spellings(name: str) -> tuple[str, ...]:
    return f"torch.{name}({{0}}, dim={{dim}})", f"{{0}}.{name}({{dim}})", f"{{0}}.{name}(dim={{dim}})"


@operator(
    "torch.cumsum",
    *_spellings("cumsum"),
    "torch.cumsum({0}, {dim})",
    dtypes=(*FLOATS, "int64", "complex64"),
    exact=True,
    saves=False,
    inplace=["{0}.cumsum_({dim})"],
    out=["torch.cumsum({0}, {dim}, out={out})"],
    name_hint="total",
)
def cumsum(draw: Draw, out: Spec) -> Needs:
    """Running sums; of smaller integers and booleans in int64."""
    dim, n = _along(draw, out)
    if out.dtype == "int64" and draw.chance(0.3):
        operand = out.as_(draw.choice(("int32", "bool", "uint8")))
        forms = _spellings("cumsum")
        return Needs(operand, values=lambda x: x.times(most(n)), forms=forms, dim=dim)
    return Needs(summable(out), values=lambda x: x.times(most(n)), dim=dim)


@operator("torch.cumsum.dtype", dtypes=WIDE, exact=True, saves=False, name_hint="total")
def cumsum_in(draw: Draw, out: Spec) -> Needs:
    """Running sums in another dtype than that of the input."""
    dim, n = _along(draw, out)
    operand = summable(out.as_(draw.choice(("float32", "float16", "bfloat16", "int64", "bool"))))
    forms = (
        f"torch.cumsum({{0}}, {{dim}}, dtype=torch.{out.dtype})",
        f"{{0}}.cumsum({{dim}}, dtype=torch.{out.dtype})",
    )
    return Needs(operand, values=lambda x: x.times(most(n)), forms=forms, dim=dim)


@operator(
    "torch.cumprod",
    *_spellings("cumprod"),
    dtypes=(*FLOATS, "int64"),
    inplace=["{0}.cumprod_({dim})"],
    out=["torch.cumprod({0}, {dim}, out={out})"],
    name_hint="product",
)
def cumprod(draw: Draw, out: Spec) -> Needs:
    """Running products of small numbers."""
    dim, n = _along(draw, out)
    bound = 1.0 if most(n) > 17 else 1.25
    if out.dtype == "int64":
        bound = 1.0 if most(n) > 17 else 2.0
    return Needs(out.within(-bound, bound), values=lambda x: _powers(x, most(n)), dim=dim)


def _powers(x: Range, count: int) -> Range:
    bound = max(x.most, 1.0) ** count
    return Range(0 if x.low >= 0 else -bound, bound)


for _name in ("cummax", "cummin"):

    @operator(f"torch.{_name}", dtypes=REAL, exact=True, name_hint="bound")
    def running_extreme(draw: Draw, out: Spec, _name: str = _name) -> Needs:
        """The running maximum or minimum, with its index where that does not depend on rounding or ties."""
        return _running_extreme(draw, out, _name, out, indices=False)

    @operator(f"torch.{_name}.indices", dtypes=("int64",), exact=True, name_hint="index")
    def running_place(draw: Draw, out: Spec, _name: str = _name) -> Needs:
        """Its index, among distinct elements."""
        return _running_extreme(draw, out, _name, Spec(out.size, draw.choice((*WIDE, "int64"))), indices=True)


def _running_extreme(draw: Draw, out: Spec, name: str, source: Spec, *, indices: bool) -> Needs:
    dim, n = _along(draw, out)
    specs = (Spec(out.size, source.dtype), index(out.shape, n))
    needs = tuple_result(draw, _spellings(name), ("values", "indices"), specs, int(indices))
    places = Range(0, most(n) - 1, exact=True)
    operand = without_ties(source.exactly()) if indices or needs.outputs else source
    values = lambda x: places if indices else x  # noqa: E731
    return Needs(operand, values=values, outputs=needs.outputs, picked=needs.picked, forms=needs.forms, dim=dim)


@operator("torch.logcumsumexp", *_spellings("logcumsumexp"), dtypes=FLOATS, name_hint="score")
def logcumsumexp(draw: Draw, out: Spec) -> Needs:
    """Running logarithms of sums of exponentials, of bounded numbers."""
    dim, n = _along(draw, out)
    operand = out.within(-16.0, 16.0)
    return Needs(operand, values=lambda x: Range(x.low, x.high + math.log(max(1, most(n))) + 0.1), dim=dim)


@operator(
    "torch.diff",
    "torch.diff({0}, n={order}, dim={dim})",
    "{0}.diff({order}, {dim})",
    dtypes=FLOATS + SIGNED,
    rank=(1, 5),
    exact=True,
    saves=False,
    name_hint="step",
)
def diff(draw: Draw, out: Spec) -> Needs:
    """Differences of neighbours, once or twice, sometimes with ``prepend`` or ``append``."""
    axis = draw.axis(out)
    dim, n = draw.signed_axis(axis, out.rank), out.shape[axis]
    size = list(out.shape)
    values = lambda x: (x - x) * Range(-2, 2, exact=True)  # noqa: E731
    if isinstance(n, Dim) or draw.chance(0.3):
        where = draw.choice(("prepend", "append"))
        size[axis] = 1
        form = f"torch.diff({{0}}, dim={{dim}}, {where}={{1}})"
        return Needs(out, out.of(*size), values=lambda x, y: x.over(y) - x.over(y), forms=[form], dim=dim)
    order = draw.choice((1, 1, 2))
    size[axis] = n + order
    forms = ("torch.diff({0}, dim={dim})", "{0}.diff(dim={dim})") if order == 1 and draw.chance(0.7) else ()
    return Needs(out.of(*size), values=values, forms=forms, order=order, dim=dim)


for _name in ("trapezoid", "trapz"):

    @operator(f"torch.{_name}", dtypes=WIDE, rank=(0, 4), name_hint="area")
    def trapezoid(draw: Draw, out: Spec, _name: str = _name) -> Needs:
        """The integral by the trapezoidal rule, with even steps or given positions."""
        axis, n = draw.integer(0, out.rank), draw.size(12)
        size = (*out.shape[:axis], n, *out.shape[axis:])
        return _area(draw, out.of(*size), axis, n, _name)


@operator("torch.cumulative_trapezoid", dtypes=WIDE, rank=(1, 5), name_hint="area")
def cumulative_trapezoid(draw: Draw, out: Spec) -> Needs:
    """The cumulative integral."""
    axis = draw.axis(out)
    n = out.shape[axis] + 1
    size = (*out.shape[:axis], n, *out.shape[axis + 1 :])
    return _area(draw, out.of(*size), axis, n, "cumulative_trapezoid")


def _area(draw: Draw, operand: Spec, axis: int, n: int, name: str) -> Needs:
    dim = draw.signed_axis(axis, operand.rank)
    operand = operand.within(-64.0, 64.0)
    if draw.chance(0.4):
        places = operand.of(n).within(-4.0, 4.0)
        values = lambda y, x: y.times(n) * Range(-8, 8)  # noqa: E731
        return Needs(operand, places, values=values, forms=[f"torch.{name}({{0}}, {{1}}, dim={{dim}})"], dim=dim)
    step = draw.choice((0.5, 0.1, 2.0, 1))
    forms = [f"torch.{name}({{0}}, dx={{step}}, dim={{dim}})"]
    if axis == operand.rank - 1 and step == 1:
        forms.append(f"torch.{name}({{0}})")
    return Needs(operand, values=lambda y: y.times(n) * Range(0, step), forms=forms, dim=dim, step=step)


@operator(
    "torch.histc",
    "torch.histc({0}, bins={bins}, min={low}, max={high})",
    "{0}.histc({bins}, {low}, {high})",
    dtypes=FLOATS,
    rank=(1, 1),
    exact=True,
    grad=False,
    name_hint="counts",
)
def histc(draw: Draw, out: Spec) -> Needs:
    """The histogram of exact numbers, none of which is the edge of a bin."""
    operand = _counted(draw, out, 120 if out.dtype == "bfloat16" else 400).within(-4.0, 4.0)
    return Needs(operand, values=Range(0, operand.numel, exact=True), bins=_bins(out), low=_LOWEST, high=_HIGHEST)


@operator("torch.histogram", dtypes=WIDE, rank=(1, 1), exact=True, grad=False, name_hint="counts")
def histogram(draw: Draw, out: Spec) -> Needs:
    """The histogram of exact numbers."""
    operand = _counted(draw, out, 400).within(-4.0, 4.0)
    forms = [f"torch.histogram({{0}}, bins={{bins}}, range=({_LOWEST}, {_HIGHEST})).hist"]
    return Needs(operand, values=Range(0, operand.numel, exact=True), forms=forms, bins=_bins(out))


def _bins(out: Spec) -> int:
    """The number of bins. Raises UnsatisfiableSpec for none and for more than 32."""
    if isinstance(out.shape[0], Dim) or not 1 <= out.shape[0] <= 32:
        raise UnsatisfiableSpec("no such number of bins")
    return out.shape[0]


def _counted(draw: Draw, out: Spec, longest: int) -> Spec:
    size = [draw.size() for _ in range(draw.integer(1, 2))]
    if math.prod(size) > longest:
        raise UnsatisfiableSpec("too many to count")
    return out.of(*size).exactly()


@operator(
    "torch.bincount",
    "torch.bincount({0}, minlength={length})",
    "{0}.bincount(minlength={length})",
    dtypes=("int64",),
    rank=(1, 1),
    exact=True,
    name_hint="counts",
)
def bincount(draw: Draw, out: Spec) -> Needs:
    """The count of each integer."""
    n = draw.size()
    return Needs(index((n,), out.shape[0]), values=Range(0, n, exact=True), length=out.shape[0])


@operator("torch.bincount.weights", dtypes=WIDE, rank=(1, 1), exact=True, grad=False, name_hint="counts")
def weighted_bincount(draw: Draw, out: Spec) -> Needs:
    """The sum of the weights of each integer."""
    n = draw.size()
    forms = ("torch.bincount({0}, {1}, minlength={length})", "{0}.bincount(weights={1}, minlength={length})")
    weights = dataclasses.replace(summable(out), size=(n,))
    return Needs(index((n,), out.shape[0]), weights, values=lambda _, w: w.times(n), forms=forms, length=out.shape[0])
