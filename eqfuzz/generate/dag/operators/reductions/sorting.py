"""Sorting, and lookups in sorted tensors."""

from __future__ import annotations

from eqfuzz.generate.dag.catalogue.operator import Needs, operator
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.reduced_sizes import tuple_result, without_ties
from eqfuzz.generate.dag.values.spec import (
    BOOL,
    BOOLEAN,
    FLOATS,
    REAL,
    Dim,
    Range,
    Spec,
    UnsatisfiableSpec,
    index,
    least,
    most,
)

_DTYPES = ("float32", "float32", "float64", "int64", "int32")
"""What is ordered where only the places count."""


def _ordered(draw: Draw, out: Spec, *, stable: bool) -> tuple[tuple[str, ...], int]:
    """Forms of sort along a dimension, and its size."""
    axis = draw.axis(out)
    dim = draw.signed_axis(axis, out.rank)
    words = ["stable=True"] if stable else []
    if axis != out.rank - 1 or stable or draw.chance(0.6):
        words.append(f"dim={dim}")
    if draw.chance(0.4):
        words.append("descending=True")
    how = ", ".join(words)
    return (f"torch.sort({{0}}, {how})", f"{{0}}.sort({how})"), out.shape[axis]


def _sort(draw: Draw, out: Spec, source: Spec, *, indices: bool, stable: bool) -> Needs:
    forms, n = _ordered(draw, out, stable=stable)
    specs = (Spec(out.size, source.dtype), index(out.shape, n))
    needs = tuple_result(draw, forms, ("values", "indices"), specs, int(indices))
    operand = source.exactly() if indices or needs.outputs else source
    operand = without_ties(operand) if not stable and needs.outputs else operand
    values = (lambda _: Range(0, most(n) - 1, exact=True)) if indices else (lambda x: x)
    return Needs(operand, values=values, outputs=needs.outputs, picked=needs.picked, forms=needs.forms)


@operator("torch.sort.stable", dtypes=REAL + BOOL, rank=(1, 5), exact=True, name_hint="ordered")
def stable_sort(draw: Draw, out: Spec) -> Needs:
    """Stable, so that the gradient is defined for equal elements."""
    return _sort(draw, out, out, indices=False, stable=True)


@operator("torch.sort", dtypes=REAL, rank=(1, 5), exact=True, grad=False, name_hint="ordered")
def sort(draw: Draw, out: Spec) -> Needs:
    """Along one dimension, ascending or descending."""
    return _sort(draw, out, out, indices=False, stable=False)


@operator("torch.sort.indices", dtypes=("int64",), rank=(1, 5), exact=True, name_hint="order")
def sort_indices(draw: Draw, out: Spec) -> Needs:
    """The indices of a stable sort."""
    return _sort(draw, out, Spec(out.size, draw.choice(_DTYPES)), indices=True, stable=True)


@operator(
    "torch.argsort",
    "torch.argsort({0}, dim={dim}, stable=True)",
    "{0}.argsort(dim={dim}, stable=True)",
    "torch.argsort({0}, stable=True, dim={dim}, descending=True)",
    "{0}.argsort(stable=True, dim={dim}, descending=True)",
    dtypes=("int64",),
    rank=(1, 5),
    exact=True,
    name_hint="order",
)
def argsort(draw: Draw, out: Spec) -> Needs:
    """The stable order of exact numbers."""
    axis = draw.axis(out)
    n = out.shape[axis]
    operand = Spec(out.size, draw.choice(_DTYPES)).exactly()
    return Needs(operand, values=Range(0, max(0, most(n) - 1), exact=True), dim=draw.signed_axis(axis, out.rank))


@operator("torch.argsort.distinct", dtypes=("int64",), rank=(1, 5), exact=True, name_hint="order")
def argsort_of_distinct(draw: Draw, out: Spec) -> Needs:
    """The order of distinct elements."""
    axis = draw.axis(out)
    forms = ("torch.argsort({0}, dim={dim})", "{0}.argsort({dim})", "{0}.argsort(dim={dim}, descending=True)")
    operand = without_ties(Spec(out.size, draw.choice(_DTYPES)).exactly())
    values = Range(0, max(0, most(out.shape[axis]) - 1), exact=True)
    return Needs(operand, values=values, forms=forms, dim=draw.signed_axis(axis, out.rank))


@operator("torch.msort", "torch.msort({0})", "{0}.msort()", dtypes=REAL, rank=(1, 5), exact=True, grad=False)
def msort(draw: Draw, out: Spec) -> Needs:
    """Along the first dimension."""
    return Needs(out)


def _topk(draw: Draw, out: Spec, dtype: str, *, indices: bool, distinct: bool) -> Needs:
    axis = draw.axis(out)
    dim, k = draw.signed_axis(axis, out.rank), out.shape[axis]
    if isinstance(k, Dim) or k == 0:
        raise UnsatisfiableSpec("takes a fixed number")
    changing = [n for n in out.shape if isinstance(n, Dim) and least(n) >= k]
    n = draw.choice(changing) if changing and draw.chance(0.5) else k + draw.integer(0, 9)
    size = (*out.shape[:axis], n, *out.shape[axis + 1 :])
    words = [f"dim={dim}"] if axis != out.rank - 1 or draw.chance(0.5) else []
    words += ["largest=False"] if draw.chance(0.3) else []
    how = ", ".join(words)
    forms = (f"torch.topk({{0}}, {k}, {how})", f"{{0}}.topk({k}, {how})", f"torch.topk({{0}}, k={k}, {how})")
    needs = tuple_result(draw, forms, ("values", "indices"), (Spec(out.size, dtype), index(out.shape, n)), int(indices))
    operand = Spec(size, dtype, exact=out.exact and not indices)
    if indices or needs.outputs:
        operand = operand.exactly()
    operand = without_ties(operand) if distinct or indices or needs.outputs else operand
    values = (lambda _: Range(0, most(n) - 1, exact=True)) if indices else (lambda x: x)
    return Needs(operand, values=values, outputs=needs.outputs, picked=needs.picked, forms=needs.forms)


@operator("torch.topk", dtypes=REAL, rank=(1, 5), exact=True, grad=False, name_hint="top")
def topk(draw: Draw, out: Spec) -> Needs:
    """The largest or smallest elements along one dimension, sorted."""
    return _topk(draw, out, out.dtype, indices=False, distinct=False)


@operator("torch.topk.distinct", dtypes=FLOATS, rank=(1, 5), exact=True, name_hint="top")
def topk_of_distinct(draw: Draw, out: Spec) -> Needs:
    """Of distinct elements, so that the gradient is defined."""
    return _topk(draw, out, out.dtype, indices=False, distinct=True)


@operator("torch.topk.indices", dtypes=("int64",), rank=(1, 5), exact=True, name_hint="index")
def topk_indices(draw: Draw, out: Spec) -> Needs:
    """Their indices, among distinct elements."""
    return _topk(draw, out, draw.choice(_DTYPES), indices=True, distinct=True)


def _looked_up(draw: Draw, out: Spec) -> tuple[str, str]:
    """The dtype of the values, and keyword arguments."""
    words = [draw.choice(("right=True", "right=True", "right=False"))] if draw.chance(0.5) else []
    words += ["out_int32=True"] if out.dtype == "int32" else []
    return draw.choice(_DTYPES), ", ".join(words)


@operator("torch.searchsorted", dtypes=("int64", "int32"), rank=(1, 5), exact=True, name_hint="place")
def searchsorted(draw: Draw, out: Spec) -> Needs:
    """The insertion indices of exact numbers into sorted rows, or one row for all."""
    dtype, how = _looked_up(draw, out)
    n = draw.size()
    rows = (n,) if draw.chance(0.4) else (*out.shape[:-1], n)
    forms = [f"torch.searchsorted({{0}}.sort(dim=-1).values, {{1}}, {how})"]
    if how.startswith("right=True"):
        side = how.replace("right=True", 'side="right"')
        forms.append(f"torch.searchsorted({{0}}.sort(dim=-1)[0], {{1}}, {side})")
    operands = Spec(rows, dtype).exactly(), Spec(out.size, dtype).exactly()
    return Needs(*operands, values=Range(0, n, exact=True), forms=forms)


@operator("torch.bucketize", dtypes=("int64", "int32"), exact=True, name_hint="bucket")
def bucketize(draw: Draw, out: Spec) -> Needs:
    """The buckets of exact numbers, with boundaries that are an input or literals."""
    dtype, how = _looked_up(draw, out)
    operand = Spec(out.size, dtype).exactly()
    if draw.chance(0.5):
        n = draw.size()
        forms = [f"torch.bucketize({{0}}, {{1}}.sort().values, {how})"]
        return Needs(operand, Spec((n,), dtype).exactly(), values=Range(0, n, exact=True), forms=forms)
    steps = draw.choice(("[-1, 0, 1, 3]", "[0, 2]", "[-3, -2, -1, 0, 1, 2, 3]"))
    forms = [f"torch.bucketize({{0}}, torch.tensor({steps}, dtype=torch.{dtype}), {how})"]
    return Needs(operand, values=Range(0, 7, exact=True), forms=forms)


@operator("torch.isin", dtypes=BOOL, exact=True, name_hint="mask")
def isin(draw: Draw, out: Spec) -> Needs:
    """Whether exact numbers are among others, which are contiguous."""
    operand = Spec(out.size, draw.choice(_DTYPES)).exactly()
    others = operand.of(*(draw.size(9) for _ in range(draw.integer(1, 2)))).dense()
    forms = ("torch.isin({0}, {1})", "torch.isin({0}, {1}, invert=True)")
    if draw.chance(0.3):
        numbers = draw.choice(("[0, 1, 2]", "[-1, 3]"))
        forms = (f"torch.isin({{0}}, torch.tensor({numbers}, dtype=torch.{operand.dtype}))",)
        return Needs(operand, values=BOOLEAN, forms=forms)
    return Needs(operand, others, values=BOOLEAN, forms=forms)


@operator("torch.isin.scalar", "torch.isin({0}, {value})", dtypes=BOOL, exact=True, name_hint="mask")
def isin_scalar(draw: Draw, out: Spec) -> Needs:
    """Whether exact numbers are equal to a literal."""
    return Needs(Spec(out.size, draw.choice(("int64", "float32"))).exactly(), values=BOOLEAN, value=draw.integer(0, 3))


@operator("torch.unravel_index", dtypes=("int64",), exact=True, dense=False, name_hint="index")
def unravel_index(draw: Draw, out: Spec) -> Needs:
    """Row or column of an index into a flattened matrix."""
    n, m, part = draw.size(9), draw.size(9), draw.integer(0, 1)
    form = f"torch.unravel_index({{0}}, ({n}, {m}))[{part}]"
    return Needs(index(out.shape, n * m), values=Range(0, (n, m)[part] - 1, exact=True), forms=[form])
