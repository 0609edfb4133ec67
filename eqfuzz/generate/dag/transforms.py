"""Structures with function transforms inside of each other: vmap, grad, jvp, vjp, jacrev, jacfwd."""

from __future__ import annotations

from collections.abc import Sequence

from eqfuzz.generate.dag.build import MODERATE, Builder
from eqfuzz.generate.dag.graph.graph import Expr, Value
from eqfuzz.generate.dag.structure import bounded, parameter_like, pure_function, structure
from eqfuzz.generate.dag.values.spec import WIDE, Dim, Range, Spec, UnsatisfiableSpec

_FAMILY = "transforms"

_WHOLE = (
    "torch.func.grad(lambda v: torch.func.grad(lambda u: {1}(u).pow(2).sum())(v).sum())({0})",
    "torch.func.grad(lambda v: (torch.func.grad(lambda u: {1}(u).sum())(v) * v).sum())({0})",
    "torch.func.grad(lambda v: torch.func.jvp({1}, (v,), (torch.ones_like(v),))[1].sum())({0})",
    "torch.func.jvp(torch.func.grad(lambda v: {1}(v).sum()), ({0}.clone(),), ({2},))[1]",
    "torch.func.jvp(lambda v: torch.func.jvp({1}, (v,), ({2},))[1], ({0}.clone(),), ({2},))[1]",
    "torch.func.vjp(torch.func.grad(lambda v: {1}(v).sum()), {0})[1]({2})[0]",
    "torch.func.grad(lambda a, b: ({1}(a) * b).sum(), argnums=1)({0}, {2})",
    "torch.func.grad(lambda a, b: ({1}(a) * {1}(b)).sum(), argnums=(0, 1))({0}, {2})[0]",
    "torch.func.grad_and_value(lambda v: {1}(v).mean())({0})[0]",
    "torch.func.grad(lambda v: ({1}(v).sum(), v * 2), has_aux=True)({0})[1]",
    "torch.func.linearize({1}, {0}.clone())[1]({2})",
    "torch.func.vjp(lambda a, b: {1}(a) * b, {0}, {2})[1]({0})[1]",
)
_ROWS = (
    "torch.vmap(torch.func.grad(lambda v: {1}(v).sum()))({0})",
    "torch.func.vmap(torch.func.grad(lambda v, w: ({1}(v) * w).sum()))({0}, {2})",
    "torch.vmap(lambda v: torch.func.vjp({1}, v)[1](torch.ones_like(v))[0])({0})",
    "torch.vmap(lambda a, b: {1}(a) + b.mean(), in_dims=(0, None))({0}, {2})",
    "torch.vmap(lambda a, b: {1}(a) * b['w'], in_dims=(0, {'w': 0}))({0}, {'w': {2}})",
    "torch.vmap({1}, chunk_size=2)({0})",
    "torch.func.grad(lambda v: torch.vmap({1})(v).sum())({0})",
    "torch.vmap(torch.func.grad(lambda v: torch.func.grad(lambda u: {1}(u).sum())(v).sum()))({0})",
)
_ROWS_WITH_DIMENSIONS = (
    "torch.vmap(lambda v, t: torch.func.jvp({1}, (v,), (t,))[1])({0}.clone(), {2})",
    "torch.func.jvp(torch.vmap({1}), ({0}.clone(),), ({2},))[1]",
)
"""Of rows that have dimensions: for others eager computes tangents in double precision."""

_COLUMNS = (
    "torch.vmap({1}, in_dims=-1, out_dims=-1)({0})",
    "torch.vmap(torch.func.grad(lambda v: {1}(v).sum()), in_dims=-1, out_dims=-1)({0})",
    "torch.vmap(lambda a, b: {1}(a) - b.mean(), in_dims=(-1, 0), out_dims=-1)({0}, {2}.transpose(0, -1))",
)
_ROWS_OF_MATRICES = (
    "torch.vmap({1}, in_dims=0, out_dims=1)({0}).transpose(0, 1)",
    "torch.vmap({1}, in_dims=1, out_dims=0)({0}.transpose(0, 1))",
)
_ELEMENTS = (
    "torch.vmap(torch.vmap({1}, in_dims=0), in_dims=1, out_dims=1)({0})",
    "torch.vmap(torch.vmap(lambda a, b: {1}(a) * b, (0, None)), in_dims=(None, 0), out_dims=1)({0}[:, 0], {2}[0])",
    "torch.vmap(torch.vmap(torch.func.grad(lambda v: {1}(v).sum())))({0})",
)
_JACOBIANS = (
    "torch.func.jacrev({1})({0}).sum(0)",
    "torch.func.jacfwd({1})({0}).diagonal()",
    "torch.func.hessian(lambda v: {1}(v).sum())({0}).diagonal()",
    "torch.func.jacfwd(torch.func.grad(lambda v: {1}(v).sum()))({0}).sum(-1)",
    "torch.func.jacrev(torch.func.jacrev(lambda v: {1}(v).sum()))({0}).sum(0)",
    "torch.func.jacrev(lambda v: {1}(v) * v.sum(), chunk_size=2)({0}).sum(1)",
    "torch.func.jacrev(lambda a, b: {1}(a) * b, argnums=1)({0}, {2}).diagonal()",
)
_JACOBIANS_OF_ROWS = (
    "torch.vmap(torch.func.jacrev({1}))({0}).sum(-1)",
    "torch.vmap(torch.func.jacfwd({1}))({0}).diagonal(dim1=1, dim2=2)",
    "torch.vmap(torch.func.hessian(lambda v: {1}(v).sum()))({0}).sum(1)",
)
_SMALL = 9
"""The size of vectors up to which matrices of derivatives are computed."""

_MOST_ELEMENTS = 512


def _texts(spec: Spec) -> list[tuple[str, tuple[int, ...]]]:
    """Expressions for ``spec``, each with the size that the function ``{1}`` in it sees."""
    size, rank = spec.shape, spec.rank
    is_small = not isinstance(size[-1], Dim) and size[-1] <= _SMALL
    tables: list[tuple[Sequence[str], tuple[int, ...]]] = [(_WHOLE, size)]
    tables += [(_ROWS, size[1:]), (_COLUMNS, size[:-1])]
    if rank >= 2:
        tables.append((_ROWS_WITH_DIMENSIONS, size[1:]))
    if rank == 2:
        tables += [(_ROWS_OF_MATRICES, size[1:]), (_ELEMENTS, ())]
    if rank == 1 and is_small:
        tables.append((_JACOBIANS, size))
    if rank == 2 and is_small:
        tables.append((_JACOBIANS_OF_ROWS, size[1:]))
    return [(text, seen) for texts, seen in tables for text in texts]


@structure("nested transforms", dtypes=WIDE, rank=(1, 3), family=_FAMILY, weight=2.5)
def nested_transforms(builder: Builder, spec: Spec, depth: int) -> Value:
    """Transforms of a function inside of each other: gradients of gradients, vmap of them, directional derivatives."""
    if spec.numel == 0 or spec.numel > _MOST_ELEMENTS or any(isinstance(n, Dim) for n in spec.shape[1:]):
        raise UnsatisfiableSpec("nothing, or too many derivatives")
    text, seen = builder.draw.choice(_texts(spec))
    argument, tangent = builder.together([bounded(spec), spec.within(-2, 2)], depth - 1)
    row = spec.of(*seen)
    parameter = parameter_like(row, Range(-MODERATE, MODERATE), "value", grad=True)
    function = pure_function(builder, row, depth, parameter, "smooth")
    expr = Expr(text, (argument, function.name, tangent), operator="nested transforms")
    return builder.emit(expr, spec.free(), Range(-512, 512))
