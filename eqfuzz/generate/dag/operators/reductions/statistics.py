"""Order statistics and their indices: extremes, medians, quantiles."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial

from eqfuzz.generate.dag.catalogue.operator import Needs, operator
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.reduced_sizes import (
    ReducedSize,
    call_forms,
    completed,
    draw_reduction,
    reduction_needs,
    tuple_result,
    without_ties,
)
from eqfuzz.generate.dag.values.spec import BOOL, REAL, WIDE, Dim, Range, Spec, UnsatisfiableSpec, index, least, most

_reduction = partial(operator, family="reductions")


for _name in ("amax", "amin"):

    @_reduction(
        f"torch.{_name}",
        *call_forms(_name),
        dtypes=REAL + BOOL,
        exact=True,
        out=[f"torch.{_name}({{0}}, out={{out}}, {{how}})"],
        name_hint="bound",
    )
    def extreme(draw: Draw, out: Spec) -> Needs:
        """The largest or smallest element over one dimension, several or all."""
        return reduction_needs(out, draw_reduction(draw, out), out, lambda x, n: x)


def _whole(draw: Draw, out: Spec) -> tuple[int, ...]:
    """The size of an input that is reduced to ``out``."""
    return draw_reduction(draw, out).size


for _name in ("max", "min"):

    @_reduction(
        f"torch.{_name}",
        f"torch.{_name}({{0}})",
        f"{{0}}.{_name}()",
        dtypes=REAL + BOOL,
        rank=(0, 0),
        exact=True,
        name_hint="bound",
    )
    def extreme_of_all(draw: Draw, out: Spec) -> Needs:
        """The largest or smallest element."""
        return Needs(out.of(*_whole(draw, out)))

    @_reduction(f"torch.{_name}.dim", dtypes=REAL, exact=True, name_hint="bound")
    def extreme_of_dim(draw: Draw, out: Spec, _name: str = _name) -> Needs:
        """Over one dimension, with the indices where they do not depend on rounding."""
        return _order_statistic(draw, out, _name, lambda spec: spec.exactly())

    @_reduction(f"torch.{_name}.indices", dtypes=("int64",), exact=True, name_hint="index")
    def extreme_index(draw: Draw, out: Spec, _name: str = _name) -> Needs:
        """The index of the first extreme of exact numbers."""
        return _order_statistic(draw, out, _name, lambda spec: spec.exactly(), indices=True)


def _order_statistic(
    draw: Draw, out: Spec, name: str, certain: Callable[[Spec], Spec], *, indices: bool = False
) -> Needs:
    """Needs of an element of each row, or its index. ``certain`` turns a spec into one with a unique index."""
    reduction = draw_reduction(draw, out, several=False, full=False, longest=17)
    where = index(out.shape, reduction.reduced[0])
    dtype = draw.choice((*WIDE, "float32", "int64", "int32")) if indices else out.dtype
    operand = Spec(reduction.size, dtype, exact=out.exact and not indices)
    value = Spec(out.size, dtype)
    needs = tuple_result(draw, call_forms(name), ("values", "indices"), (value, where), int(indices))
    if indices or needs.outputs:
        operand = certain(operand)
    if name.endswith("median"):
        operand = operand.dense()  # for expanded tensors torch 2.13's CPU kernel returns unrelated memory
    places = Range(0, most(reduction.reduced[0]) - 1, exact=True)
    return completed(
        needs, operand, values=lambda x: places if indices else x, how=reduction.how, brief=reduction.brief
    )


def _place(draw: Draw, out: Spec, name: str) -> Needs:
    reduction = draw_reduction(draw, out, several=False, longest=17)
    if not reduction.how:
        reduction = ReducedSize(
            tuple(n if not isinstance(n, Dim) else 5 for n in reduction.size), reduction.reduced, "", ""
        )
    operand = Spec(reduction.size, draw.choice((*WIDE, "float32", "int64", "int32", "bfloat16"))).exactly()
    return Needs(operand, values=Range(0, reduction.count - 1, exact=True), how=reduction.how, brief=reduction.brief)


for _name in ("argmax", "argmin"):

    @_reduction(f"torch.{_name}", *call_forms(_name), dtypes=("int64",), exact=True, name_hint="index")
    def place(draw: Draw, out: Spec, _name: str = _name) -> Needs:
        """The index of the first extreme of exact numbers, over one dimension or all."""
        return _place(draw, out, _name)


for _name in ("median", "nanmedian"):

    @_reduction(
        f"torch.{_name}",
        f"torch.{_name}({{0}})",
        f"{{0}}.{_name}()",
        dtypes=REAL,
        rank=(0, 0),
        exact=True,
        name_hint="middle",
    )
    def median(draw: Draw, out: Spec) -> Needs:
        """The lower median of all elements."""
        return Needs(out.of(*_whole(draw, out)))

    @_reduction(f"torch.{_name}.dim", dtypes=REAL, exact=True, grad=False, name_hint="middle")
    def median_of_dim(draw: Draw, out: Spec, _name: str = _name) -> Needs:
        """Over one dimension; not differentiated, since the gradient is undefined for equal elements."""
        return _order_statistic(draw, out, _name, lambda spec: without_ties(spec.exactly()))

    @_reduction(f"torch.{_name}.indices", dtypes=("int64",), exact=True, name_hint="index")
    def median_index(draw: Draw, out: Spec, _name: str = _name) -> Needs:
        """Its index, among distinct elements."""
        return _order_statistic(draw, out, _name, lambda spec: without_ties(spec.exactly()), indices=True)


@_reduction("torch.kthvalue", dtypes=REAL, exact=True, grad=False)
def kthvalue(draw: Draw, out: Spec) -> Needs:
    """The smallest, second or third smallest element over one dimension."""
    return _kth(draw, out)


@_reduction("torch.kthvalue.distinct", dtypes=WIDE)
def kthvalue_of_distinct(draw: Draw, out: Spec) -> Needs:
    """Of distinct elements, so that the gradient is defined."""
    needs = _kth(draw, out)
    return completed(needs, without_ties(needs.inputs[0]), values=Range.inexact, **needs.params)


@_reduction("torch.kthvalue.indices", dtypes=("int64",), exact=True, name_hint="index")
def kthvalue_index(draw: Draw, out: Spec) -> Needs:
    """Its index, among distinct elements."""
    return _kth(draw, out, indices=True)


def _kth(draw: Draw, out: Spec, *, indices: bool = False) -> Needs:
    reduction = draw_reduction(draw, out, several=False, full=False, longest=17)
    where = index(out.shape, reduction.reduced[0])
    dtype = draw.choice((*WIDE, "float32", "int64")) if indices else out.dtype
    operand = Spec(reduction.size, dtype, exact=out.exact and not indices)
    forms = ("torch.kthvalue({0}, {k}, {how})", "{0}.kthvalue({k}, {how})", "torch.kthvalue({0}, k={k}, {how})")
    needs = tuple_result(draw, forms, ("values", "indices"), (Spec(out.size, dtype), where), int(indices))
    if indices or needs.outputs:
        operand = without_ties(operand.exactly())
    places = Range(0, most(reduction.reduced[0]) - 1, exact=True)
    k = draw.integer(1, min(3, least(reduction.reduced[0])))
    return completed(needs, operand, values=lambda x: places if indices else x, how=reduction.how, k=k)


@_reduction(
    "torch.mode", "torch.mode({0}, {how}).values", "{0}.mode({how}).values", dtypes=REAL, exact=True, grad=False
)
def mode(draw: Draw, out: Spec) -> Needs:
    """The smallest of the most frequent exact numbers over one dimension."""
    reduction = draw_reduction(draw, out, several=False, full=False, longest=17)
    return reduction_needs(out, reduction, out.exactly(), lambda x, n: x)


@_reduction("torch.aminmax", dtypes=REAL, exact=True, name_hint="bound")
def aminmax(draw: Draw, out: Spec) -> Needs:
    """Minimum and maximum, over one dimension or all."""
    reduction = draw_reduction(draw, out, several=False)
    needs = tuple_result(draw, call_forms("aminmax", brief=False), ("min", "max"), (out, out), draw.integer(0, 1))
    return completed(needs, out.of(*reduction.size), values=lambda x: x, how=reduction.how)


for _name in ("quantile", "nanquantile"):

    @_reduction(f"torch.{_name}", dtypes=WIDE, grad=False, dense=False, name_hint="quantile")
    def quantile(draw: Draw, out: Spec, _name: str = _name) -> Needs:
        """Over one dimension or all, interpolated or not."""
        return _quantile(draw, out, _name, out.within(-1024.0, 1024.0))

    @_reduction(f"torch.{_name}.distinct", dtypes=WIDE, dense=False, name_hint="quantile")
    def quantile_of_distinct(draw: Draw, out: Spec, _name: str = _name) -> Needs:
        """Of distinct elements, so that the gradient is defined."""
        return _quantile(draw, out, _name, without_ties(out))


def _quantile(draw: Draw, out: Spec, name: str, operand: Spec) -> Needs:
    if out.numel == 0:
        raise UnsatisfiableSpec("empty")
    share = draw.choice((0.0, 0.25, 0.5, 0.5, 0.75, 1.0, 0.3))
    kinds = ("linear", "lower", "higher", "midpoint")
    kind = draw.choice(kinds) if share != 0.3 and draw.chance(0.4) else ""
    several = out.rank and out.shape[0] == 3 and draw.chance(0.7)
    reduction = draw_reduction(draw, out.of(*out.shape[1:]) if several else out, several=False, keep=not several)
    q = f"torch.tensor([0.25, 0.5, 0.75], dtype=torch.{out.dtype})" if several else str(share)
    more = f', interpolation="{kind}"' * bool(kind)
    forms = (f"torch.{name}({{0}}, {{q}}, {{how}}{more})", f"{{0}}.{name}({{q}}, {{how}}{more})")
    if not reduction.how:
        forms = (f"torch.{name}({{0}}, {{q}}{more})", f"{{0}}.{name}({{q}}{more})")
    input_ = dataclasses.replace(operand, size=reduction.size)
    return Needs(input_, values=Range.inexact, forms=forms, q=q, how=reduction.how)
