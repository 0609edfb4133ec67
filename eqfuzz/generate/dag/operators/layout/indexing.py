"""Operators that read by index."""

from __future__ import annotations

from functools import partial

from eqfuzz.generate.dag.catalogue.operator import Needs, operator
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.sizes import small, with_axis
from eqfuzz.generate.dag.values.spec import EVERY, FLOATS, Dim, Range, Spec, UnsatisfiableSpec, index

_reads = partial(operator, dtypes=EVERY, exact=True)


def _some(draw: Draw, out: Spec) -> int:
    """A size of an indexed dimension, sometimes a changing one."""
    changing = [n for n in out.shape if isinstance(n, Dim)]
    return draw.choice([*changing, draw.size(9), draw.size(9), draw.size(9)])


def _first(x: Range, *others: Range) -> Range:
    """The range of the first input; the others are indices."""
    return x


@_reads(
    "torch.index_select",
    "torch.index_select({0}, {dim}, {1})",
    "{0}.index_select({dim}, {1})",
    "torch.index_select({0}, dim={dim}, index={1})",
    rank=(1, 5),
    name_hint="picked",
)
def index_select(draw: Draw, out: Spec) -> Needs:
    """Slices along an axis, by index."""
    axis, n = draw.axis(out), _some(draw, out)
    operand = small(out.of(*with_axis(out.shape, axis, n)))
    return Needs(operand, index((out.shape[axis],), n), values=_first, dim=draw.signed_axis(axis, out.rank))


@_reads("torch.gather", "torch.gather({0}, {dim}, {1})", "{0}.gather({dim}, {1})", rank=(1, 5), name_hint="picked")
def gather(draw: Draw, out: Spec) -> Needs:
    """Elements along an axis, by index; the other axes of the input may be longer."""
    axis, n = draw.axis(out), _some(draw, out)
    size = [m if isinstance(m, Dim) or draw.chance(0.7) else m + 1 for m in out.shape]
    size[axis] = n
    return Needs(small(out.of(*size)), index(out.shape, n), values=_first, dim=draw.signed_axis(axis, out.rank))


@_reads("torch.take", "torch.take({0}, {1})", "{0}.take({1})", name_hint="picked")
def take(draw: Draw, out: Spec) -> Needs:
    """Elements by index into the flattened tensor."""
    size = tuple(draw.size(5) for _ in range(draw.integer(1, 3)))
    operand = out.of(*size)
    return Needs(operand, index(out.shape, operand.numel), values=_first)


@_reads(
    "torch.take_along_dim",
    "torch.take_along_dim({0}, {1}, dim={dim})",
    "{0}.take_along_dim({1}, dim={dim})",
    rank=(1, 5),
    name_hint="picked",
)
def take_along_dim(draw: Draw, out: Spec) -> Needs:
    """Elements along an axis, by an index that may broadcast."""
    axis, n = draw.axis(out), _some(draw, out)
    size = tuple(1 if i != axis and draw.chance(0.15) else m for i, m in enumerate(out.shape))
    operand = small(out.of(*with_axis(out.shape, axis, n)))
    return Needs(operand, index(size, n), values=_first, dim=axis)


# What indexing returns may lie in memory in another order, as a view would.
_indexes = partial(operator, dtypes=EVERY, exact=True, view=True, name_hint="picked")


@_indexes("torch.Tensor.__getitem__.index", rank=(1, 5), weight=2)
def by_index(draw: Draw, out: Spec) -> Needs:
    """One axis indexed by a tensor, sometimes of negative indices, and slices of others."""
    wide = 2 if out.rank > 1 and draw.chance(0.25) else 1
    axis = draw.integer(0, out.rank - wide)
    n = _some(draw, out)
    before = ":, " * axis
    forms = [f"{{0}}[{before}{{1}}]", f"{{0}}[{before}{{1}} - {n}]"]
    if axis + wide == out.rank:
        forms.append("{0}[..., {1}]")
    size = [*out.shape[:axis], n, *out.shape[axis + wide :]]
    after = size[axis + 1 :]
    if after and not isinstance(after[0], Dim) and draw.chance(0.3):
        forms = [f"{{0}}[{before}{{1}}, 1:]"]
        size[axis + 1] += 1
    return Needs(small(out.of(*size)), index(out.shape[axis : axis + wide], n), values=_first, forms=forms)


@_indexes("torch.Tensor.__getitem__.indices", rank=(1, 4))
def by_indices(draw: Draw, out: Spec) -> Needs:
    """Two axes, adjacent or not, indexed by tensors that broadcast against each other."""
    a, b = _some(draw, out), draw.size(6)
    first = index(out.shape[:1], a)
    rest = out.shape[1:]
    kind = draw.choice(("pair", "number", "grid", "apart"))
    if kind == "grid" and out.rank > 1:
        operand, other = out.of(a, b, *out.shape[2:]), index(out.shape[1:2], b)
        return Needs(small(operand), first, other, values=_first, forms=["{0}[{1}[:, None], {2}]"])
    if kind == "apart" and out.rank > 1:
        operand, other = out.of(a, rest[0], b, *rest[1:]), index(out.shape[:1], b)
        return Needs(small(operand), first, other, values=_first, forms=["{0}[{1}, :, {2}]"])
    operand = small(out.of(a, b, *rest))
    if kind == "number":
        place = draw.integer(-b, b - 1)
        return Needs(operand, first, values=_first, forms=["{0}[{1}, {place}]"], place=place)
    return Needs(operand, first, index(out.shape[:1], b), values=_first, forms=["{0}[{1}, {2}]"])


@_indexes("torch.Tensor.__getitem__.triangle", rank=(1, 1))
def by_triangle(draw: Draw, out: Spec) -> Needs:
    """The elements of a triangle of a matrix, as a vector."""
    n = next((k for k in range(1, 20) if not isinstance(out.shape[0], Dim) and k * (k + 1) // 2 == out.shape[0]), 0)
    if not n:
        raise UnsatisfiableSpec("not a triangle")
    name = draw.choice(("tril", "triu"))
    operand = out.of(n, n + draw.integer(0, 2)) if name == "tril" else out.of(n + draw.integer(0, 2), n)
    indices = f"torch.{name}_indices({operand.shape[0]}, {operand.shape[1]})"
    forms = [f"{{0}}[{indices}[0], {indices}[1]]", f"{{0}}[{indices}.unbind()]"]
    return Needs(operand, forms=forms)


@operator("torch.nn.functional.embedding", dtypes=FLOATS, rank=(1, 5), exact=True, name_hint="embedded")
def embedding(draw: Draw, out: Spec) -> Needs:
    """Rows of a matrix, by index."""
    rows = _some(draw, out)
    forms = ["F.embedding({1}, {0})"] * 2
    if not isinstance(rows, Dim):
        forms.append("F.embedding({1}, {0}, padding_idx={row})")
    operand = small(out.of(rows, out.shape[-1]))
    row = 0 if isinstance(rows, Dim) else draw.integer(-rows, rows - 1)
    return Needs(operand, index(out.shape[:-1], rows), values=_first, forms=forms, row=row)


@operator(
    "torch.nn.functional.one_hot",
    "F.one_hot({0}, {classes})",
    "F.one_hot({0}, num_classes={classes})",
    dtypes=["int64"],
    rank=(1, 5),
    exact=True,
    saves=False,
    name_hint="hot",
)
def one_hot(draw: Draw, out: Spec) -> Needs:
    """Ones at the indices, zeros elsewhere."""
    n = out.shape[-1]
    return Needs(index(out.shape[:-1], n), values=Range(0, 1, exact=True), classes=n)
