"""Operators that run along a dimension, and those that count into bins."""

from __future__ import annotations

import dataclasses
import math

from eqfuzz.generate.dag.catalogue.operator import Needs, operator
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.reduced_sizes import apart, finite, parts
from eqfuzz.generate.dag.values.spec import FLOATS, REAL, SIGNED, WIDE, Dim, Range, Spec, UnsatisfiableSpec, index, most

_LOWEST, _HIGHEST = -4.5, 4.23
"""Up to 32 even bins between these have no end that is a multiple of a sixteenth, where exact numbers lie."""


def _along(draw: Draw, out: Spec) -> tuple[int, int]:
    """A dimension as it is written, and its size; a tensor without dimensions has one of size 1 here."""
    if out.rank == 0:
        return draw.choice((0, -1)), 1
    axis = draw.axis(out)
    return draw.spelled(axis, out.rank), out.shape[axis]


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
    noun="total",
)
def cumsum(draw: Draw, out: Spec) -> Needs:
    """Running sums; of smaller whole numbers and truth values in int64."""
    dim, n = _along(draw, out)
    if out.dtype == "int64" and draw.chance(0.3):
        asked = out.as_(draw.choice(("int32", "bool", "uint8")))
        forms = _spellings("cumsum")
        return Needs(asked, values=lambda x: x.times(most(n)), spellings=forms, dim=dim)
    return Needs(finite(out), values=lambda x: x.times(most(n)), dim=dim)


@operator("torch.cumsum.dtype", dtypes=WIDE, exact=True, saves=False, noun="total")
def cumsum_in(draw: Draw, out: Spec) -> Needs:
    """Running sums in another dtype than that of the input."""
    dim, n = _along(draw, out)
    asked = finite(out.as_(draw.choice(("float32", "float16", "bfloat16", "int64", "bool"))))
    forms = (
        f"torch.cumsum({{0}}, {{dim}}, dtype=torch.{out.dtype})",
        f"{{0}}.cumsum({{dim}}, dtype=torch.{out.dtype})",
    )
    return Needs(asked, values=lambda x: x.times(most(n)), spellings=forms, dim=dim)


@operator(
    "torch.cumprod",
    *_spellings("cumprod"),
    dtypes=(*FLOATS, "int64"),
    inplace=["{0}.cumprod_({dim})"],
    out=["torch.cumprod({0}, {dim}, out={out})"],
    noun="product",
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

    @operator(f"torch.{_name}", dtypes=REAL, exact=True, noun="bound")
    def running_extreme(draw: Draw, out: Spec, _name: str = _name) -> Needs:
        """The largest or smallest so far; its place comes with it where it does not hang on rounding or ties."""
        return _running_extreme(draw, out, _name, out, indices=False)

    @operator(f"torch.{_name}.indices", dtypes=("int64",), exact=True, noun="index")
    def running_place(draw: Draw, out: Spec, _name: str = _name) -> Needs:
        """Where it is, among elements that differ."""
        return _running_extreme(draw, out, _name, Spec(out.size, draw.choice((*WIDE, "int64"))), indices=True)


def _running_extreme(draw: Draw, out: Spec, name: str, given: Spec, *, indices: bool) -> Needs:
    dim, n = _along(draw, out)
    specs = (Spec(out.size, given.dtype), index(out.shape, n))
    needs = parts(draw, _spellings(name), ("values", "indices"), specs, int(indices))
    places = Range(0, most(n) - 1, exact=True)
    asked = apart(given.exactly()) if indices or needs.outputs else given
    values = lambda x: places if indices else x  # noqa: E731
    return Needs(asked, values=values, outputs=needs.outputs, picked=needs.picked, spellings=needs.spellings, dim=dim)


@operator("torch.logcumsumexp", *_spellings("logcumsumexp"), dtypes=FLOATS, noun="score")
def logcumsumexp(draw: Draw, out: Spec) -> Needs:
    """Running logarithms of sums, of moderate numbers."""
    dim, n = _along(draw, out)
    asked = out.within(-16.0, 16.0)
    return Needs(asked, values=lambda x: Range(x.low, x.high + math.log(max(1, most(n))) + 0.1), dim=dim)


@operator(
    "torch.diff",
    "torch.diff({0}, n={order}, dim={dim})",
    "{0}.diff({order}, {dim})",
    dtypes=FLOATS + SIGNED,
    rank=(1, 5),
    exact=True,
    saves=False,
    noun="step",
)
def diff(draw: Draw, out: Spec) -> Needs:
    """Differences of neighbours, once or twice; the dimension keeps its size where something is put before it."""
    axis = draw.axis(out)
    dim, n = draw.spelled(axis, out.rank), out.shape[axis]
    size = list(out.shape)
    values = lambda x: (x - x) * Range(-2, 2, exact=True)  # noqa: E731
    if isinstance(n, Dim) or draw.chance(0.3):
        where = draw.choice(("prepend", "append"))
        size[axis] = 1
        form = f"torch.diff({{0}}, dim={{dim}}, {where}={{1}})"
        return Needs(out, out.of(*size), values=lambda x, y: x.over(y) - x.over(y), spellings=[form], dim=dim)
    order = draw.choice((1, 1, 2))
    size[axis] = n + order
    forms = ("torch.diff({0}, dim={dim})", "{0}.diff(dim={dim})") if order == 1 and draw.chance(0.7) else ()
    return Needs(out.of(*size), values=values, spellings=forms, order=order, dim=dim)


for _name in ("trapezoid", "trapz"):

    @operator(f"torch.{_name}", dtypes=WIDE, rank=(0, 4), noun="area")
    def trapezoid(draw: Draw, out: Spec, _name: str = _name) -> Needs:
        """The area under a line, with even steps or at given places."""
        axis, n = draw.integer(0, out.rank), draw.size(12)
        size = (*out.shape[:axis], n, *out.shape[axis:])
        return _area(draw, out.of(*size), axis, n, _name)


@operator("torch.cumulative_trapezoid", dtypes=WIDE, rank=(1, 5), noun="area")
def cumulative_trapezoid(draw: Draw, out: Spec) -> Needs:
    """The area so far."""
    axis = draw.axis(out)
    n = out.shape[axis] + 1
    size = (*out.shape[:axis], n, *out.shape[axis + 1 :])
    return _area(draw, out.of(*size), axis, n, "cumulative_trapezoid")


def _area(draw: Draw, given: Spec, axis: int, n: int, name: str) -> Needs:
    dim = draw.spelled(axis, given.rank)
    given = given.within(-64.0, 64.0)
    if draw.chance(0.4):
        places = given.of(n).within(-4.0, 4.0)
        values = lambda y, x: y.times(n) * Range(-8, 8)  # noqa: E731
        return Needs(given, places, values=values, spellings=[f"torch.{name}({{0}}, {{1}}, dim={{dim}})"], dim=dim)
    step = draw.choice((0.5, 0.1, 2.0, 1))
    forms = [f"torch.{name}({{0}}, dx={{step}}, dim={{dim}})"]
    if axis == given.rank - 1 and step == 1:
        forms.append(f"torch.{name}({{0}})")
    return Needs(given, values=lambda y: y.times(n) * Range(0, step), spellings=forms, dim=dim, step=step)


@operator(
    "torch.histc",
    "torch.histc({0}, bins={bins}, min={low}, max={high})",
    "{0}.histc({bins}, {low}, {high})",
    dtypes=FLOATS,
    rank=(1, 1),
    exact=True,
    grad=False,
    noun="counts",
)
def histc(draw: Draw, out: Spec) -> Needs:
    """How many exact numbers lie in each of some even steps, whose ends are none of them."""
    asked = _counted(draw, out, 120 if out.dtype == "bfloat16" else 400).within(-4.0, 4.0)
    return Needs(asked, values=Range(0, asked.numel, exact=True), bins=_bins(out), low=_LOWEST, high=_HIGHEST)


@operator("torch.histogram", dtypes=WIDE, rank=(1, 1), exact=True, grad=False, noun="counts")
def histogram(draw: Draw, out: Spec) -> Needs:
    """How many exact numbers lie in each of some even steps."""
    asked = _counted(draw, out, 400).within(-4.0, 4.0)
    forms = [f"torch.histogram({{0}}, bins={{bins}}, range=({_LOWEST}, {_HIGHEST})).hist"]
    return Needs(asked, values=Range(0, asked.numel, exact=True), spellings=forms, bins=_bins(out))


def _bins(out: Spec) -> int:
    """How many bins there are. Raises Unfit for none, and for many."""
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
    noun="counts",
)
def bincount(draw: Draw, out: Spec) -> Needs:
    """How often each whole number comes."""
    n = draw.size()
    return Needs(index((n,), out.shape[0]), values=Range(0, n, exact=True), length=out.shape[0])


@operator("torch.bincount.weights", dtypes=WIDE, rank=(1, 1), exact=True, grad=False, noun="counts")
def weighted_bincount(draw: Draw, out: Spec) -> Needs:
    """What comes with each whole number, added up."""
    n = draw.size()
    forms = ("torch.bincount({0}, {1}, minlength={length})", "{0}.bincount(weights={1}, minlength={length})")
    weights = dataclasses.replace(finite(out), size=(n,))
    return Needs(
        index((n,), out.shape[0]), weights, values=lambda _, w: w.times(n), spellings=forms, length=out.shape[0]
    )
