"""Operators that reduce dimensions: sums, extremes, order statistics, norms."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

from eqfuzz.generate.dag.draw import LARGE, Draw
from eqfuzz.generate.dag.operator import Needs, operator
from eqfuzz.generate.dag.spec import (
    BOOL,
    BOOLEAN,
    DIM_MOST,
    FLOATS,
    REAL,
    WIDE,
    Dim,
    Range,
    Spec,
    Unfit,
    index,
    least,
    most,
)

_ROOM = 4096


def finite(spec: Spec) -> Spec:
    """Of floats, those that can be added up in any order."""
    return spec.within(-1024.0, 1024.0) if spec.is_float else spec


def apart(spec: Spec) -> Spec:
    """Without ties."""
    return dataclasses.replace(spec, distinct=True)


@dataclasses.dataclass(frozen=True)
class Cut:
    """The size of what is reduced, and how that is written: by keywords, and by position."""

    size: tuple[int, ...]
    reduced: tuple[int, ...]
    how: str
    brief: str

    @property
    def count(self) -> int:
        """How many elements become one, at most."""
        return math.prod(most(n) for n in self.reduced)


def cut(
    draw: Draw,
    out: Spec,
    *,
    several: bool = True,
    full: bool = True,
    fewest: int = 1,
    longest: int = 128,
    keep: bool = True,
) -> Cut:
    """A size that ``out`` is left of when dimensions are reduced. Raises Unfit.

    ``several``: more than one dimension at once. ``full``: all of them may go unnamed. ``fewest`` and ``longest`` bound
    the sizes of those reduced, ``keep`` lets them stay with size 1.
    """
    size = list(out.shape)
    ones = [axis for axis, n in enumerate(size) if n == 1]
    unnamed = out.rank == 0 and full and draw.chance(0.5)
    keepdim = False
    if unnamed:
        axes = list(range(draw.integer(0 if fewest == 1 else 1, 4)))
        size = [1] * len(axes)
    elif keep and ones and draw.chance(0.8):
        keepdim = True
        axes = sorted(draw.rng.sample(ones, draw.integer(1, len(ones)) if several else 1))
    else:
        count = min(draw.choice((1, 1, 2, 3)) if several else 1, 5 - out.rank)
        rank = out.rank + draw.integer(1, count)
        axes = sorted(draw.rng.sample(range(rank), rank - out.rank))
        for axis in axes:
            size.insert(axis, 1)
    room = _ROOM // max(1, out.numel)
    for axis in axes:
        dims = [n for n in out.shape if isinstance(n, Dim)]
        if dims and longest >= DIM_MOST and draw.chance(0.2):
            size[axis] = draw.choice(dims)
        else:
            n = draw.choice(LARGE) if draw.chance(0.12) else draw.size()
            size[axis] = max(fewest, min(n, room, longest))
        room //= most(size[axis])
    reduced = tuple(size[axis] for axis in axes)
    if unnamed:
        return Cut(tuple(size), reduced, "", "")
    written = tuple(draw.spelled(axis, len(size)) for axis in axes)
    dim = str(written[0]) if len(written) == 1 and not (several and draw.chance(0.2)) else str(written)
    tail = ("", "", ", keepdim=False") if not keepdim else (", keepdim=True",)
    return Cut(tuple(size), reduced, f"dim={dim}{draw.choice(tail)}", f"{dim}{', True' * keepdim}")


def spellings(name: str, brief: bool = True) -> tuple[str, ...]:
    """The function and the method ``name`` of what `cut` gives."""
    forms = (f"torch.{name}({{0}}, {{how}})", f"{{0}}.{name}({{how}})")
    return (*forms, f"{{0}}.{name}({{brief}})", f"torch.{name}({{0}}, {{brief}})") if brief else forms


def parts(draw: Draw, forms: Sequence[str], fields: Sequence[str], specs: Sequence[Spec], picked: int) -> Needs:
    """How a result that is one part of a tuple is written: unpacked, or with a field or a number behind the call.

    Gives the part of `Needs` that says so, to be completed by `dataclasses.replace`.
    """
    if draw.chance(0.5):
        return Needs(outputs=specs, picked=picked, spellings=forms)
    return Needs(spellings=[f"{form}{behind}" for form in forms for behind in (f".{fields[picked]}", f"[{picked}]")])


def _given(needs: Needs, *inputs: Spec, values: Callable[..., Range], **params: Any) -> Needs:
    """``needs`` with inputs, values and parameters."""
    return Needs(
        *inputs, values=values, outputs=needs.outputs, picked=needs.picked, spellings=needs.spellings, **params
    )


def _reduce(out: Spec, given: Cut, asked: Spec, values: Callable[[Range, int], Range], more: str = "") -> Needs:
    how = ", ".join(word for word in (given.how, more) if word)
    brief = ", ".join(word for word in (given.brief, more) if word)
    input_ = dataclasses.replace(asked, size=given.size)
    return Needs(input_, values=lambda x: values(x, given.count), how=how, brief=brief)


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
    return _reduce(out, cut(draw, out), asked, Range.times, more)


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
    return _reduce(out, cut(draw, out, full=False), finite(out), Range.times)


@operator("torch.mean", *spellings("mean"), dtypes=(*FLOATS, "complex64"), saves=False, noun="mean", weight=2)
def mean(draw: Draw, out: Spec) -> Needs:
    """Over one dimension, several or all."""
    given = cut(draw, out)
    if out.dtype in WIDE and draw.chance(0.12):
        asked = finite(out.as_(draw.choice(("float32", "int64", "float64"))))
        return _reduce(out, given, asked, lambda x, n: x.inexact(), f"dtype=torch.{out.dtype}")
    return _reduce(out, given, finite(out), lambda x, n: x.inexact())


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
        raise Unfit("too many factors")
    if out.dtype == "int64":
        bound = 3 if given.count <= 20 else 1
        return _reduce(out, given, out.as_(draw.choice(("int64", "int32"))).within(-bound, bound), _product_of)
    return _reduce(out, given, out.within(-1.25, 1.25), _product_of)


for _name in ("amax", "amin"):

    @operator(
        f"torch.{_name}",
        *spellings(_name),
        dtypes=REAL + BOOL,
        exact=True,
        out=[f"torch.{_name}({{0}}, out={{out}}, {{how}})"],
        noun="bound",
    )
    def extreme(draw: Draw, out: Spec) -> Needs:
        """The largest or smallest over one dimension, several or all."""
        return _reduce(out, cut(draw, out), out, lambda x, n: x)


def _whole(draw: Draw, out: Spec) -> tuple[int, ...]:
    """The size of what is reduced to one element."""
    return cut(draw, out).size


for _name in ("max", "min"):

    @operator(
        f"torch.{_name}",
        f"torch.{_name}({{0}})",
        f"{{0}}.{_name}()",
        dtypes=REAL + BOOL,
        rank=(0, 0),
        exact=True,
        noun="bound",
    )
    def extreme_of_all(draw: Draw, out: Spec) -> Needs:
        """The largest or smallest of all elements."""
        return Needs(out.of(*_whole(draw, out)))

    @operator(f"torch.{_name}.dim", dtypes=REAL, exact=True, noun="bound")
    def extreme_of_dim(draw: Draw, out: Spec, _name: str = _name) -> Needs:
        """Over one dimension; the places come with it where they do not hang on rounding."""
        return _order_statistic(draw, out, _name, lambda spec: spec.exactly())

    @operator(f"torch.{_name}.indices", dtypes=("int64",), exact=True, noun="index")
    def extreme_index(draw: Draw, out: Spec, _name: str = _name) -> Needs:
        """Where it is: the first place of exact numbers."""
        return _order_statistic(draw, out, _name, lambda spec: spec.exactly(), indices=True)


def _order_statistic(
    draw: Draw, out: Spec, name: str, certain: Callable[[Spec], Spec], *, indices: bool = False
) -> Needs:
    """An element of each row, or its place. ``certain`` makes of a spec one in which the place is not in doubt."""
    given = cut(draw, out, several=False, full=False, longest=17)
    where = index(out.shape, given.reduced[0])
    dtype = draw.choice((*WIDE, "float32", "int64", "int32")) if indices else out.dtype
    asked = Spec(given.size, dtype, exact=out.exact and not indices)
    value = Spec(out.size, dtype)
    needs = parts(draw, spellings(name), ("values", "indices"), (value, where), int(indices))
    if indices or needs.outputs:
        asked = certain(asked)
    if name.endswith("median"):
        asked = asked.dense()  # of expanded tensors torch 2.13's CPU kernel gives what happens to lie in memory
    places = Range(0, most(given.reduced[0]) - 1, exact=True)
    return _given(needs, asked, values=lambda x: places if indices else x, how=given.how, brief=given.brief)


def _place(draw: Draw, out: Spec, name: str) -> Needs:
    given = cut(draw, out, several=False, longest=17)
    if not given.how:
        given = Cut(tuple(n if not isinstance(n, Dim) else 5 for n in given.size), given.reduced, "", "")
    asked = Spec(given.size, draw.choice((*WIDE, "float32", "int64", "int32", "bfloat16"))).exactly()
    return Needs(asked, values=Range(0, given.count - 1, exact=True), how=given.how, brief=given.brief)


for _name in ("argmax", "argmin"):

    @operator(f"torch.{_name}", *spellings(_name), dtypes=("int64",), exact=True, noun="index")
    def place(draw: Draw, out: Spec, _name: str = _name) -> Needs:
        """The first place of the extreme, of exact numbers; of all elements where no dimension is named."""
        return _place(draw, out, _name)


for _name in ("all", "any"):

    @operator(f"torch.{_name}", *spellings(_name), dtypes=BOOL, exact=True, noun="mask")
    def every(draw: Draw, out: Spec) -> Needs:
        """Of truth values, or of exact numbers that are zero or not."""
        asked = out.as_(draw.choice(("bool", "bool", "bool", "float32", "int64"))).exactly()
        return _reduce(out, cut(draw, out), asked, lambda x, n: BOOLEAN)


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
    return _reduce(out, given, asked, lambda x, n: _deviation(x, root), more)


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
    return _reduce(out, cut(draw, out, full=False), out.within(-16.0, 16.0), values)


for _name in ("median", "nanmedian"):

    @operator(
        f"torch.{_name}",
        f"torch.{_name}({{0}})",
        f"{{0}}.{_name}()",
        dtypes=REAL,
        rank=(0, 0),
        exact=True,
        noun="middle",
    )
    def median(draw: Draw, out: Spec) -> Needs:
        """The lower of the middle elements, of all."""
        return Needs(out.of(*_whole(draw, out)))

    @operator(f"torch.{_name}.dim", dtypes=REAL, exact=True, grad=False, noun="middle")
    def median_of_dim(draw: Draw, out: Spec, _name: str = _name) -> Needs:
        """Over one dimension; which of equal elements gets the gradient is not said."""
        return _order_statistic(draw, out, _name, lambda spec: apart(spec.exactly()))

    @operator(f"torch.{_name}.indices", dtypes=("int64",), exact=True, noun="index")
    def median_index(draw: Draw, out: Spec, _name: str = _name) -> Needs:
        """Where it is, among elements that differ."""
        return _order_statistic(draw, out, _name, lambda spec: apart(spec.exactly()), indices=True)


@operator("torch.kthvalue", dtypes=REAL, exact=True, grad=False)
def kthvalue(draw: Draw, out: Spec) -> Needs:
    """The smallest, the second or the third smallest over one dimension."""
    return _kth(draw, out)


@operator("torch.kthvalue.distinct", dtypes=WIDE)
def kthvalue_of_distinct(draw: Draw, out: Spec) -> Needs:
    """Of elements that differ, so that it is clear where the gradient goes."""
    needs = _kth(draw, out)
    return _given(needs, apart(needs.inputs[0]), values=Range.inexact, **needs.params)


@operator("torch.kthvalue.indices", dtypes=("int64",), exact=True, noun="index")
def kthvalue_index(draw: Draw, out: Spec) -> Needs:
    """Where it is, among elements that differ."""
    return _kth(draw, out, indices=True)


def _kth(draw: Draw, out: Spec, *, indices: bool = False) -> Needs:
    given = cut(draw, out, several=False, full=False, longest=17)
    where = index(out.shape, given.reduced[0])
    dtype = draw.choice((*WIDE, "float32", "int64")) if indices else out.dtype
    asked = Spec(given.size, dtype, exact=out.exact and not indices)
    forms = ("torch.kthvalue({0}, {k}, {how})", "{0}.kthvalue({k}, {how})", "torch.kthvalue({0}, k={k}, {how})")
    needs = parts(draw, forms, ("values", "indices"), (Spec(out.size, dtype), where), int(indices))
    if indices or needs.outputs:
        asked = apart(asked.exactly())
    places = Range(0, most(given.reduced[0]) - 1, exact=True)
    k = draw.integer(1, min(3, least(given.reduced[0])))
    return _given(needs, asked, values=lambda x: places if indices else x, how=given.how, k=k)


@operator("torch.mode", "torch.mode({0}, {how}).values", "{0}.mode({how}).values", dtypes=REAL, exact=True, grad=False)
def mode(draw: Draw, out: Spec) -> Needs:
    """The most frequent of exact numbers over one dimension, the smallest such."""
    given = cut(draw, out, several=False, full=False, longest=17)
    return _reduce(out, given, out.exactly(), lambda x, n: x)


@operator("torch.aminmax", dtypes=REAL, exact=True, noun="bound")
def aminmax(draw: Draw, out: Spec) -> Needs:
    """Both extremes at once, over one dimension or all."""
    given = cut(draw, out, several=False)
    needs = parts(draw, spellings("aminmax", brief=False), ("min", "max"), (out, out), draw.integer(0, 1))
    return _given(needs, out.of(*given.size), values=lambda x: x, how=given.how)


for _name in ("quantile", "nanquantile"):

    @operator(f"torch.{_name}", dtypes=WIDE, grad=False, dense=False, noun="quantile")
    def quantile(draw: Draw, out: Spec, _name: str = _name) -> Needs:
        """Of one dimension or all; between two elements, or one of them."""
        return _quantile(draw, out, _name, out.within(-1024.0, 1024.0))

    @operator(f"torch.{_name}.distinct", dtypes=WIDE, dense=False, noun="quantile")
    def quantile_of_distinct(draw: Draw, out: Spec, _name: str = _name) -> Needs:
        """Of elements that differ, so that it is clear where the gradient goes."""
        return _quantile(draw, out, _name, apart(out))


def _quantile(draw: Draw, out: Spec, name: str, asked: Spec) -> Needs:
    if out.numel == 0:
        raise Unfit("empty")
    share = draw.choice((0.0, 0.25, 0.5, 0.5, 0.75, 1.0, 0.3))
    kinds = ("linear", "lower", "higher", "midpoint")
    kind = draw.choice(kinds) if share != 0.3 and draw.chance(0.4) else ""
    several = out.rank and out.shape[0] == 3 and draw.chance(0.7)
    given = cut(draw, out.of(*out.shape[1:]) if several else out, several=False, keep=not several)
    q = f"torch.tensor([0.25, 0.5, 0.75], dtype=torch.{out.dtype})" if several else str(share)
    more = f', interpolation="{kind}"' * bool(kind)
    forms = (f"torch.{name}({{0}}, {{q}}, {{how}}{more})", f"{{0}}.{name}({{q}}, {{how}}{more})")
    if not given.how:
        forms = (f"torch.{name}({{0}}, {{q}}{more})", f"{{0}}.{name}({{q}}{more})")
    input_ = dataclasses.replace(asked, size=given.size)
    return Needs(input_, values=Range.inexact, spellings=forms, q=q, how=given.how)


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
