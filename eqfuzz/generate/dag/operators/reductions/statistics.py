"""Operators that pick elements by their order: extremes, medians, quantiles, and where they are."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial

from eqfuzz.generate.dag.catalogue.operator import Needs, operator
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.reduced_sizes import ReducedSize, apart, completed, cut, parts, reducing, spellings
from eqfuzz.generate.dag.values.spec import BOOL, REAL, WIDE, Dim, Range, Spec, UnsatisfiableSpec, index, least, most

_reduction = partial(operator, family="reductions")


for _name in ("amax", "amin"):

    @_reduction(
        f"torch.{_name}",
        *spellings(_name),
        dtypes=REAL + BOOL,
        exact=True,
        out=[f"torch.{_name}({{0}}, out={{out}}, {{how}})"],
        noun="bound",
    )
    def extreme(draw: Draw, out: Spec) -> Needs:
        """The largest or smallest over one dimension, several or all."""
        return reducing(out, cut(draw, out), out, lambda x, n: x)


def _whole(draw: Draw, out: Spec) -> tuple[int, ...]:
    """The size of what is reduced to one element."""
    return cut(draw, out).size


for _name in ("max", "min"):

    @_reduction(
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

    @_reduction(f"torch.{_name}.dim", dtypes=REAL, exact=True, noun="bound")
    def extreme_of_dim(draw: Draw, out: Spec, _name: str = _name) -> Needs:
        """Over one dimension; the places come with it where they do not hang on rounding."""
        return _order_statistic(draw, out, _name, lambda spec: spec.exactly())

    @_reduction(f"torch.{_name}.indices", dtypes=("int64",), exact=True, noun="index")
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
    return completed(needs, asked, values=lambda x: places if indices else x, how=given.how, brief=given.brief)


def _place(draw: Draw, out: Spec, name: str) -> Needs:
    given = cut(draw, out, several=False, longest=17)
    if not given.how:
        given = ReducedSize(tuple(n if not isinstance(n, Dim) else 5 for n in given.size), given.reduced, "", "")
    asked = Spec(given.size, draw.choice((*WIDE, "float32", "int64", "int32", "bfloat16"))).exactly()
    return Needs(asked, values=Range(0, given.count - 1, exact=True), how=given.how, brief=given.brief)


for _name in ("argmax", "argmin"):

    @_reduction(f"torch.{_name}", *spellings(_name), dtypes=("int64",), exact=True, noun="index")
    def place(draw: Draw, out: Spec, _name: str = _name) -> Needs:
        """The first place of the extreme, of exact numbers; of all elements where no dimension is named."""
        return _place(draw, out, _name)


for _name in ("median", "nanmedian"):

    @_reduction(
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

    @_reduction(f"torch.{_name}.dim", dtypes=REAL, exact=True, grad=False, noun="middle")
    def median_of_dim(draw: Draw, out: Spec, _name: str = _name) -> Needs:
        """Over one dimension; which of equal elements gets the gradient is not said."""
        return _order_statistic(draw, out, _name, lambda spec: apart(spec.exactly()))

    @_reduction(f"torch.{_name}.indices", dtypes=("int64",), exact=True, noun="index")
    def median_index(draw: Draw, out: Spec, _name: str = _name) -> Needs:
        """Where it is, among elements that differ."""
        return _order_statistic(draw, out, _name, lambda spec: apart(spec.exactly()), indices=True)


@_reduction("torch.kthvalue", dtypes=REAL, exact=True, grad=False)
def kthvalue(draw: Draw, out: Spec) -> Needs:
    """The smallest, the second or the third smallest over one dimension."""
    return _kth(draw, out)


@_reduction("torch.kthvalue.distinct", dtypes=WIDE)
def kthvalue_of_distinct(draw: Draw, out: Spec) -> Needs:
    """Of elements that differ, so that it is clear where the gradient goes."""
    needs = _kth(draw, out)
    return completed(needs, apart(needs.inputs[0]), values=Range.inexact, **needs.params)


@_reduction("torch.kthvalue.indices", dtypes=("int64",), exact=True, noun="index")
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
    return completed(needs, asked, values=lambda x: places if indices else x, how=given.how, k=k)


@_reduction(
    "torch.mode", "torch.mode({0}, {how}).values", "{0}.mode({how}).values", dtypes=REAL, exact=True, grad=False
)
def mode(draw: Draw, out: Spec) -> Needs:
    """The most frequent of exact numbers over one dimension, the smallest such."""
    given = cut(draw, out, several=False, full=False, longest=17)
    return reducing(out, given, out.exactly(), lambda x, n: x)


@_reduction("torch.aminmax", dtypes=REAL, exact=True, noun="bound")
def aminmax(draw: Draw, out: Spec) -> Needs:
    """Both extremes at once, over one dimension or all."""
    given = cut(draw, out, several=False)
    needs = parts(draw, spellings("aminmax", brief=False), ("min", "max"), (out, out), draw.integer(0, 1))
    return completed(needs, out.of(*given.size), values=lambda x: x, how=given.how)


for _name in ("quantile", "nanquantile"):

    @_reduction(f"torch.{_name}", dtypes=WIDE, grad=False, dense=False, noun="quantile")
    def quantile(draw: Draw, out: Spec, _name: str = _name) -> Needs:
        """Of one dimension or all; between two elements, or one of them."""
        return _quantile(draw, out, _name, out.within(-1024.0, 1024.0))

    @_reduction(f"torch.{_name}.distinct", dtypes=WIDE, dense=False, noun="quantile")
    def quantile_of_distinct(draw: Draw, out: Spec, _name: str = _name) -> Needs:
        """Of elements that differ, so that it is clear where the gradient goes."""
        return _quantile(draw, out, _name, apart(out))


def _quantile(draw: Draw, out: Spec, name: str, asked: Spec) -> Needs:
    if out.numel == 0:
        raise UnsatisfiableSpec("empty")
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
