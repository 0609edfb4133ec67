"""Chains of reads and writes by index, as Inductor's graph passes match them."""

from __future__ import annotations

from functools import partial
from typing import Any

from eqfuzz.generate.dag.catalogue.operator import Needs, operator
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.spec import FLOATS, SIGNED, WIDE, Dim, Range, Spec, UnsatisfiableSpec, index, nonempty
from eqfuzz.generate.dag.values.value_bounds import longest

_fusion = partial(operator, family="fusion")


@_fusion(
    "pattern: scatter upon a constant",
    "torch.full({size}, {value}, dtype=torch.{dtype}).scatter({dim}, {0}.unsqueeze({dim}), {put}) * {1}",
    "torch.zeros({size}, dtype=torch.{dtype}).scatter({dim}, {0}.unsqueeze({dim}), {put}) * {1}",
    "torch.zeros_like({1}).scatter_({dim}, {0}.unsqueeze({dim}), {put}) * {1}",
    dtypes=("float32", "float64", "int64"),
    rank=(2, 3),
    exact=True,
    name_hint="marked",
)
def scatter_upon_constant(draw: Draw, out: Spec) -> Needs:
    """One number scattered into a constant: scatter_upon_const_tensor in joint_graph.py."""
    dim = draw.axis(out)
    size = out.shape
    where = index(size[:dim] + size[dim + 1 :], size[dim])
    number_range = Range(0, 3, exact=True)
    params: dict[str, Any] = {
        "size": size,
        "dim": dim,
        "dtype": out.dtype,
        "value": draw.integer(0, 2),
        "put": draw.integer(1, 3),
    }
    return Needs(where, out.free(), values=lambda i, x: x * number_range, **params)


@_fusion(
    "pattern: one hot times matrix",
    "F.one_hot({0}, {n}).to(torch.{dtype}) @ {1}",
    "({0}.unsqueeze(-1) == torch.arange({n})).to(torch.{dtype}).matmul({1})",
    "torch.mm(torch.eye({n}, dtype=torch.{dtype})[{0}].reshape(-1, {n}), {1}).reshape({size})",
    dtypes=WIDE,
    rank=(2, 3),
    exact=True,
    name_hint="embedded",
)
def one_hot_matmul(draw: Draw, out: Spec) -> Needs:
    """Rows looked up by a product with a one-hot matrix, which is equivalent to indexing."""
    n = draw.integer(2, 12)
    table = nonempty(out).of(n, out.shape[-1])
    values = lambda i, w: w.over(Range(0, 0, exact=True))  # noqa: E731
    return Needs(index(out.shape[:-1], n), table, values=values, n=n, dtype=out.dtype, size=out.shape)


@_fusion(
    "pattern: gather as where",
    "torch.where({0}.unsqueeze(-1) == torch.arange({n}), {1}, 0).sum(-1)",
    "({1} * ({0}.unsqueeze(-1) == torch.arange({n}))).sum(dim=-1)",
    "torch.gather({1}, -1, {0}.unsqueeze(-1)).squeeze(-1)",
    "torch.take_along_dim({1}, {0}.unsqueeze(-1), dim=-1)[..., 0].clone()",
    dtypes=("float32", "float64", "int64"),
    rank=(0, 3),
    exact=True,
    name_hint="chosen",
)
def gather_as_where(draw: Draw, out: Spec) -> Needs:
    """An element of each row, selected by a comparison with its index."""
    n = draw.integer(2, 12)
    operand = nonempty(out).of(*out.shape, n)
    zero = Range(0, 0, exact=True)
    values = lambda i, x: Range(*(x.over(zero).low, x.over(zero).high), exact=x.exact)  # noqa: E731
    tame = operand.within(-64.0, 64.0)
    return Needs(index(out.shape, n), tame, values=values, n=n)


@_fusion(
    "pattern: chain of index_put",
    "{0}.index_put(({1}.argsort(stable=True),), {2}).index_put(({1},), {2}, accumulate=True)",
    "torch.index_put({0} + {0}, ({1},), {2}, accumulate=True)",
    "{0}.clone().index_add_(0, {1}, {2}).index_copy(0, {1}.argsort(stable=True), {2})",
    dtypes=("float32", "float64", "int64"),
    rank=(1, 3),
    exact=True,
    name_hint="written",
)
def index_put_chain(draw: Draw, out: Spec) -> Needs:
    """A chain of writes by index: reinplace.py makes them in-place."""
    n = nonempty(out).shape[0]
    k = n if isinstance(n, Dim) else draw.integer(1, n)
    count = longest(k)
    values = lambda x, i, y: x.over(y, x + x) + y.times(count)  # noqa: E731
    return Needs(out.free(), index((k,), n), out.of(k, *out.shape[1:]), values=values)


@_fusion(
    "pattern: chain of slice writes",
    "torch.slice_scatter(torch.slice_scatter({0}, {1}, {dim}, {a}, {b}), {1} * 2, {dim}, {a}, {b})",
    "torch.select_scatter(torch.slice_scatter({0}, {1}, {dim}, {a}, {b}), {0}.select({dim}, {a}), {dim}, {a})",
    "torch.slice_scatter({0}, torch.slice_scatter({1}, {0}.narrow({dim}, {a}, 1), {dim}, 0, 1), {dim}, {a}, {b})",
    "torch.slice_scatter({0}, {0}.narrow({dim}, {a}, {k}) + {1}, {dim}, {a}, {b})",
    dtypes=("float32", "float64", "int64"),
    rank=(1, 4),
    exact=True,
    name_hint="written",
)
def slice_scatter_chain(draw: Draw, out: Spec) -> Needs:
    """A chain of functional writes to slices: reinplace.py and slice_scatter_noop in post_grad.py."""
    dim = draw.axis(nonempty(out))
    n = out.shape[dim]
    k = n // draw.integer(1, 2)
    if k < 1:
        raise UnsatisfiableSpec("no slice")
    a = draw.integer(0, n - k)
    part = out.of(*out.shape[:dim], k, *out.shape[dim + 1 :])
    values = lambda x, y: x.over(y, y + y, x + y)  # noqa: E731
    return Needs(out.free(), part, values=values, dim=dim, a=a, b=a + k, k=k)


@_fusion(
    "pattern: copy of a write",
    "torch.empty_like({0}).copy_({0}).add_({1})",
    "{0}.clone().copy_({0} + {1})",
    "torch.zeros_like({0}).add_({0}).add_({1})",
    "torch.ones_like({0}).mul_({0}).add({1}).clone()",
    dtypes=FLOATS + SIGNED,
    exact=True,
    saves=False,
)
def copy_of_write(draw: Draw, out: Spec) -> Needs:
    """A buffer that is filled and added to: functionalisation and reinplace.py."""
    return Needs(out.free(), out.free(), values=lambda x, y: x + y)


@_fusion(
    "pattern: embedding bag",
    "F.embedding({0}, {1}).sum(-2)",
    "{1}[{0}].sum(dim=-2)",
    "F.embedding({0}, {1}).mean(-2)",
    "torch.index_select({1}, 0, {0}.flatten()).reshape({size}).sum(-2)",
    dtypes=WIDE,
    rank=(2, 3),
    name_hint="embedded",
)
def embedding_bag(draw: Draw, out: Spec) -> Needs:
    """Rows looked up and summed: gathers fused into reductions, and a scatter in the backward pass."""
    *rows, n = nonempty(out).shape
    bag, words = draw.integer(1, 6), draw.integer(2, 12)
    values = lambda i, w: w.times(bag).over(w)  # noqa: E731
    return Needs(index((*rows, bag), words), out.of(words, n), values=values, size=(*rows, bag, n))
