"""Operators over dimensions of size 0, and along the only dimension that tensors without dimensions have."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from eqfuzz.generate.dag.catalogue.operator import Needs, operator
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.spec import BOOL, BOOLEAN, FLOATS, WIDE, Range, Spec, index

_ZERO = Range(0, 0, exact=True)
_ONE = Range(1, 1, exact=True)
_NOT_FINITE = Range(0, 0, nonfinite=True)

_empty = partial(operator, family="empty and scalar", rank=(0, 3))
_lone = partial(operator, family="empty and scalar", rank=(0, 0))


def _with_empty(draw: Draw, out: Spec) -> tuple[Spec, int]:
    """An input with one more dimension than ``out``, which is empty, and the argument that names it."""
    axis = draw.integer(0, out.rank)
    return out.of(*out.shape[:axis], 0, *out.shape[axis:]), draw.signed_axis(axis, out.rank + 1)


def _over_nothing(draw: Draw, out: Spec, values: Range) -> Needs:
    operand, dim = _with_empty(draw, out)
    return Needs(operand, values=values, dim=dim)


@_empty(
    "torch.sum.empty",
    "torch.sum({0}, dim={dim})",
    "{0}.sum({dim})",
    "torch.nansum({0}, {dim})",
    "{0}.cumsum({dim}).sum({dim})",
    "({0} * 2 + 1).sum(dim={dim})",
    dtypes=(*WIDE, "int64"),
    exact=True,
    name_hint="total",
)
def sum_of_nothing(draw: Draw, out: Spec) -> Needs:
    """Over an empty dimension: 0."""
    return _over_nothing(draw, out, _ZERO)


@_empty(
    "torch.prod.empty",
    "torch.prod({0}, {dim})",
    "{0}.prod(dim={dim})",
    "{0}.cumprod({dim}).prod({dim})",
    dtypes=(*WIDE, "int64"),
    exact=True,
    name_hint="product",
)
def product_of_nothing(draw: Draw, out: Spec) -> Needs:
    """Over an empty dimension: 1."""
    return _over_nothing(draw, out, _ONE)


@_empty(
    "torch.any.empty",
    "torch.any({0}, dim={dim})",
    "torch.all({0}, dim={dim})",
    "{0}.any({dim})",
    "{0}.all({dim})",
    "({0} > 0).all({dim})",
    dtypes=BOOL,
    exact=True,
    name_hint="mask",
)
def any_of_nothing(draw: Draw, out: Spec) -> Needs:
    """Over an empty dimension: false for any, true for all."""
    operand, dim = _with_empty(draw, out.as_(draw.choice(("bool", "float32", "int64"))))
    return Needs(operand.exactly(), values=BOOLEAN, dim=dim)


@_empty(
    "torch.logsumexp.empty",
    "torch.logsumexp({0}, {dim})",
    "{0}.mean({dim})",
    "torch.var({0}, dim={dim})",
    "torch.nanmean({0}, {dim})",
    "torch.std({0}, dim={dim}, correction=0)",
    dtypes=FLOATS,
    grad=False,
    name_hint="score",
)
def undefined_for_nothing(draw: Draw, out: Spec) -> Needs:
    """Over an empty dimension: minus infinity, or not a number."""
    return _over_nothing(draw, out, _NOT_FINITE)


@_empty(
    "torch.linalg.vector_norm.empty",
    "torch.linalg.vector_norm({0}, dim={dim})",
    "torch.linalg.vector_norm({0}, 1, dim={dim})",
    "{0}.norm(dim={dim})",
    dtypes=WIDE,
    grad=False,
    name_hint="length",
)
def norm_of_nothing(draw: Draw, out: Spec) -> Needs:
    """Over an empty dimension: 0."""
    return _over_nothing(draw, out, _ZERO)


@_empty(
    "torch.amax.empty_rows",
    "torch.cat([torch.amax({0}, {dim}), {1}])",
    "torch.cat([{1}, {0}.amin({dim})])",
    "torch.cat([{0}.max({dim}).values, {1}], 0)",
    "torch.cat([{0}.sort({dim}).values.sum({dim}).to({1}.dtype), {1}])",
    "torch.cat([{0}.cummax({dim}).values.amax({dim}), {1}])",
    dtypes=(*WIDE, "int64"),
    exact=True,
    grad=False,
    name_hint="joined",
)
def extreme_of_no_rows(draw: Draw, out: Spec) -> Needs:
    """Extremes along one dimension of a tensor whose first dimension is empty, joined with others."""
    if out.rank == 0:
        return Needs(out.of(0), out.free(), values=lambda x, y: y, forms=["{0}.sum() + {1}", "{1} - {0}.sum()"])
    size = (0, draw.size(5), *out.shape[1:])
    return Needs(out.of(*size), out.free(), values=lambda x, y: y, dim=draw.choice((1, -out.rank)))


@operator(
    "torch.matmul.empty",
    "torch.matmul({0}, {1})",
    "{0} @ {1}",
    "{0}.mm({1}) + 1",
    "torch.addmm(torch.ones({columns}, dtype={0}.dtype), {0}, {1})",
    "F.linear({0}, {1}.t(), torch.ones({columns}, dtype={0}.dtype))",
    'torch.einsum("ij,jk->ik", {0}, {1})',
    "torch.bmm({0}[None], {1}[None])[0]",
    "torch.tensordot({0}, {1}, dims=1)",
    dtypes=WIDE,
    rank=(2, 2),
    family="empty and scalar",
    exact=True,
)
def product_over_nothing(draw: Draw, out: Spec) -> Needs:
    """Products of matrices over an empty dimension, which are zero, sometimes with a bias."""
    rows, columns = out.shape
    return Needs(out.of(rows, 0), out.of(0, columns), values=Range(0, 1, exact=True), columns=columns)


# Tensors without dimensions


def _only_dim(draw: Draw, forms: Sequence[str]) -> list[str]:
    dim = draw.choice(("0", "-1"))
    return [form.replace("{dim}", dim) for form in forms]


_SAME = (
    "torch.sum({0}, dim={dim})",
    "torch.amax({0}, {dim})",
    "{0}.amin({dim})",
    "torch.max({0}, {dim}).values",
    "{0}.min({dim})[0]",
    "torch.sort({0}, {dim}).values",
    "torch.topk({0}, 1, dim={dim}).values",
    "torch.kthvalue({0}, 1, {dim}).values",
    "torch.median({0}, {dim}).values",
    "torch.mode({0}, {dim}).values",
    "{0}.cumsum({dim})",
    "torch.cumprod({0}, {dim})",
    "torch.cummax({0}, {dim}).values",
    "torch.prod({0}, {dim})",
    "torch.gather({0}, {dim}, torch.tensor(0))",
    "torch.index_select({0}, {dim}, torch.tensor([0]))",
    "torch.take({0}, torch.tensor(0))",
    "{0}.unsqueeze({dim}).squeeze({dim})",
    "{0}[None][0]",
    "{0}[...]  + 0",
    "{0}.expand(3)[1] + 0",
    "{0}.repeat(2).amax()",
    "{0}.reshape(1).flip(0)[0] + 0",
    "torch.flatten({0}).sum()",
    "torch.atleast_1d({0}).sum()",
    "torch.stack([{0}, {0}]).amin()",
    "torch.where(torch.tensor(True), {0}, 0)",
    "torch.scatter({0}, {dim}, torch.tensor(0), {0} + 0)",
    "torch.index_fill({0}, {dim}, torch.tensor(0), 2)",
    "{0}.masked_fill(torch.tensor(False), 3)",
    "torch.masked_select({0}, torch.tensor(True)).sum()",
    "torch.broadcast_tensors({0}, torch.zeros(2))[0].amax()",
)


@_lone("torch.sum.scalar", dtypes=(*WIDE, "int64"), exact=True, grad=False)
def of_one_number(draw: Draw, out: Spec) -> Needs:
    """Reductions, orders and lookups along dimension 0 of a tensor without dimensions."""
    return Needs(out.free(), values=lambda x: x.over(Range(2, 2, exact=True)), forms=_only_dim(draw, _SAME))


@_lone("torch.softmax.scalar", dtypes=WIDE, name_hint="score")
def of_one_float(draw: Draw, out: Spec) -> Needs:
    """Functions of floats along dimension 0 of a tensor without dimensions."""
    forms = (
        "torch.softmax({0}, {dim})",
        "torch.log_softmax({0}, dim={dim})",
        "torch.logsumexp({0}, {dim})",
        "torch.logcumsumexp({0}, {dim})",
        "torch.mean({0}, {dim})",
        "torch.linalg.vector_norm({0}, 1, dim={dim})",
        "torch.var({0}, {dim}, correction=0)",
        "F.softmin({0}, {dim})",
        "F.dropout({0}, 0.5, training=False)",
        "torch.lerp({0}, {0} * 2, {0}.detach())",
        "torch.dot({0}.reshape(1), {0}.reshape(1))",
    )
    values = lambda x: Range(-(x.most**2) - x.most - 1, 3 * x.most**2 + x.most + 1)  # noqa: E731
    return Needs(out.within(0.05, 8.0), values=values, forms=_only_dim(draw, forms))


@_lone("torch.argmax.scalar", dtypes=("int64",), exact=True, name_hint="index")
def place_of_one_number(draw: Draw, out: Spec) -> Needs:
    """The index of the only element of a tensor without dimensions: 0."""
    forms = (
        "torch.argmax({0}, {dim})",
        "torch.argmin({0})",
        "torch.max({0}, {dim}).indices",
        "{0}.min({dim})[1]",
        "torch.sort({0}, {dim}).indices",
        "torch.argsort({0}, {dim})",
        "torch.topk({0}, 1, {dim}).indices",
        "torch.kthvalue({0}, 1, {dim}).indices",
        "torch.median({0}, {dim}).indices",
        "torch.cummin({0}, {dim}).indices",
        "torch.count_nonzero({0} * 0)",
        "torch.bucketize({0}, torch.tensor([100.0, 200.0], dtype={0}.dtype))",
        "torch.searchsorted(torch.tensor([100.0, 200.0], dtype={0}.dtype), {0})",
    )
    operand = Spec((), draw.choice(("float32", "int64", "float64"))).exactly().within(-16, 16)
    return Needs(operand, values=_ZERO, forms=_only_dim(draw, forms))


@_lone("torch.any.scalar", dtypes=BOOL, exact=True, name_hint="mask")
def test_of_one_number(draw: Draw, out: Spec) -> Needs:
    """Tests along dimension 0 of a tensor without dimensions."""
    forms = (
        "torch.any({0}, dim={dim})",
        "{0}.all({dim})",
        "torch.logical_not({0})",
        "{0}.bool()",
        "torch.isin({0}, torch.tensor([0, 1, 2], dtype={0}.dtype))",
        "torch.isclose({0}, {0})",
        "{0} == {0}.reshape(1)[0]",
    )
    operand = Spec((), draw.choice(("float32", "int64", "int32"))).exactly()
    return Needs(operand, values=BOOLEAN, forms=_only_dim(draw, forms))


@operator(
    "torch.Tensor.index.scalar",
    "{0}[{1}]",
    "torch.index_select({0}, 0, {1}.reshape(1))[0] + 0",
    "F.embedding({1}, {0})",
    "{0}.select(0, 0) + {0}[{1}]",
    "{0}.take_along_dim({1}.reshape({ones}), 0)[0]",
    "torch.gather({0}, 0, {1}.expand(1, *{0}.shape[1:]))[0]",
    dtypes=(*WIDE, "int64"),
    rank=(1, 1),
    family="empty and scalar",
    exact=True,
    grad=False,
)
def row_of_scalar(draw: Draw, out: Spec) -> Needs:
    """A row whose index is a tensor without dimensions."""
    rows = draw.size(9)
    forms = () if out.is_float else ("{0}[{1}]", "torch.index_select({0}, 0, {1}.reshape(1))[0] + 0")
    return Needs(out.of(rows, *out.shape), index((), rows), values=lambda x, i: x.over(x + x), forms=forms, ones=(1, 1))


@_lone(
    "torch.nn.functional.cross_entropy.scalar",
    "F.cross_entropy({0}, {1})",
    "F.nll_loss(torch.log_softmax({0}, 0), {1})",
    "F.cross_entropy({0}, {1}, label_smoothing=0.1)",
    'F.cross_entropy({0}, {1}, reduction="sum")',
    "F.multi_margin_loss({0}, {1})",
    "F.cross_entropy({0}, F.one_hot({1}, {classes}).to({0}.dtype))",
    dtypes=WIDE,
    name_hint="loss",
)
def loss_of_one(draw: Draw, out: Spec) -> Needs:
    """Losses of one example, whose target is a tensor without dimensions."""
    classes = draw.choice((2, 3, 5, 9))
    return Needs(out.of(classes).within(-8.0, 8.0), index((), classes), values=Range(0, 24), classes=classes)


@_lone(
    "torch.add.scalar_tensors",
    "{0} + {1}",
    "torch.maximum({0}, {1})",
    "({0} * {1}).sum()",
    "torch.outer({0}.reshape(1), {1}.reshape(1)).sum()",
    "torch.stack([{0}, {1}]).sum(0)",
    "torch.where({0} > {1}, {0}, {1})",
    "torch.clamp({0}, min={1})",
    "torch.addcmul({0}, {0}, {1})",
    "torch.meshgrid({0}, {1}, indexing='ij')[0].sum()",
    "torch.cartesian_prod({0}.reshape(1), {1}.reshape(1)).sum()",
    dtypes=(*FLOATS, "int64", "int32"),
    exact=True,
    grad=False,
)
def of_two_numbers(draw: Draw, out: Spec) -> Needs:
    """Functions of two tensors without dimensions."""
    operand = out.within(-8, 8)
    forms = ("{0} + {1}", "torch.maximum({0}, {1})", "torch.clamp({0}, min={1})", "torch.where({0} > {1}, {0}, {1})")
    return Needs(
        operand,
        operand,
        values=lambda x, y: x.over(y, x + y, x * y, x + x * y),
        forms=forms if out.dtype in ("int32", "float16", "bfloat16") else (),
    )
