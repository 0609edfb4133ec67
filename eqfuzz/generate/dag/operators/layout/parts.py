"""Operators that read parts of a tensor: slices, splits, windows, diagonals."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from eqfuzz.generate.dag.catalogue.operator import Needs
from eqfuzz.generate.dag.operators.layout.shapes import ZERO, copy_of, fixed_view_of, view_of
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.sizes import small, with_axis
from eqfuzz.generate.dag.values.spec import BOOL, REAL, Dim, Spec, UnsatisfiableSpec


@view_of(
    "torch.narrow",
    "torch.narrow({0}, {dim}, {start}, {length})",
    "{0}.narrow({dim}, {start}, {length})",
    rank=(1, 5),
)
def narrow(draw: Draw, out: Spec) -> Needs:
    """A range of one axis."""
    axis = draw.axis(out)
    start, after = draw.integer(0, 3), draw.integer(0, 2)
    n = out.shape[axis]
    if isinstance(n, Dim):
        start = after = 0
    size = with_axis(out.shape, axis, n if isinstance(n, Dim) else n + start + after)
    return Needs(small(out.of(*size)), dim=draw.signed_axis(axis, out.rank), start=start, length=n)


@view_of("torch.select", rank=(0, 4), weight=2)
def select(draw: Draw, out: Spec) -> Needs:
    """One index of an axis; also by indexing."""
    axis = draw.integer(0, out.rank)
    n = draw.choice([*(d for d in out.shape if isinstance(d, Dim)), *(draw.size(5) for _ in range(3))])
    place = draw.integer(-1, min(int(n) - 1, 2))
    forms = ["torch.select({0}, {dim}, {place})", "{0}.select({dim}, {place})", f"{{0}}[{':, ' * axis}{{place}}]"]
    if axis == out.rank:
        forms += ["{0}[..., {place}]"] * 2
    size = (*out.shape[:axis], n, *out.shape[axis:])
    return Needs(small(out.of(*size)), forms=forms, dim=draw.signed_axis(axis, out.rank + 1), place=place)


def _slice(draw: Draw, n: int) -> tuple[int, str]:
    """A size, and a slice of it that has size ``n``."""
    kind = draw.choice(("all", "from", "to", "back", "step", "both", "far"))
    if isinstance(n, Dim) or kind == "all":
        return n, ":"
    k = draw.integer(1, 3)
    if kind == "from":
        return n + k, f"{k}:"
    if kind == "to":
        return n + k, f":{n}"
    if kind == "back":
        return n + k, f":-{k}"
    if kind == "far":
        return n, f":{n + 3}"
    if kind == "step" and n > 0:
        step = draw.choice((2, 2, 3))
        start = draw.integer(0, 2)
        return start + step * n - draw.integer(0, step - 1), f"{start or ''}::{step}"
    return n + k + 1, f"{k}:-1"


@view_of("torch.Tensor.__getitem__", rank=(1, 5), weight=3)
def slices(draw: Draw, out: Spec) -> Needs:
    """Basic indexing of several axes: slices with steps and negative ends, integers, new axes."""
    size: list[int] = []
    parts: list[str] = []
    for n in out.shape:
        if draw.chance(0.12):
            extra = draw.size(4)
            size.append(extra)
            parts.append(str(draw.integer(-extra, extra - 1)))
        if n == 1 and draw.chance(0.4):
            parts.append("None")
            continue
        length, part = _slice(draw, n)
        size.append(length)
        parts.append(part)
    if not size:
        raise UnsatisfiableSpec("nothing is sliced")
    while len(parts) > 1 and parts[-1] == ":" and draw.chance(0.7):
        parts.pop()
    lead = next(i for i, part in enumerate([*parts, "end"]) if part != ":")
    if lead > 1 and draw.chance(0.5) and "None" not in parts and len(parts) == len(size):
        parts = ["...", *parts[lead:]]
    return Needs(small(out.of(*size)), forms=[f"{{0}}[{', '.join(parts)}]"])


def _parted(out: Spec, axis: int, sizes: Sequence[int], picked: int, forms: list[str], **params: Any) -> Needs:
    """Needs of a call that returns a tuple of parts, unpacked."""
    every = [out.of(*with_axis(out.shape, axis, n)) for n in sizes]
    whole = small(out.of(*with_axis(out.shape, axis, sum(sizes))))
    if len(every) < 2:
        return Needs(whole, forms=[f"{form}[0]" for form in forms], **params)
    return Needs(whole, values=lambda x: x, outputs=every, picked=picked, forms=forms, **params)


def _part(out: Spec, axis: int, sizes: Sequence[int], picked: int, forms: list[str], **params: Any) -> Needs:
    """Needs of a call that returns a tuple of parts, with one part selected by index."""
    whole = small(out.of(*with_axis(out.shape, axis, sum(sizes))))
    return Needs(whole, forms=[f"{form}[{picked}]" for form in forms], **params)


def _divided(draw: Draw, out: Spec, axis: int, kind: str) -> tuple[list[int], int, dict[str, Any]]:
    """The sizes of the parts, the index of the part that is ``out``, and the argument that divides so."""
    n = out.shape[axis]
    count = draw.integer(2, 4)
    if isinstance(n, Dim) or n < 1:
        raise UnsatisfiableSpec("a part of a size that changes, or an empty one")
    if kind in ("chunk", "split", "tensor_split"):
        last = draw.integer(1, n)
        sizes = [n] * (count - 1) + [last]
        picked = draw.integer(0, count - 2) if last != n else draw.integer(0, count - 1)
        if kind == "tensor_split":
            sizes = [n] * count
        if kind == "chunk" and -(-sum(sizes) // count) != n:
            sizes = [n] * count
        return sizes, picked, {"by": n if kind == "split" else count}
    sizes = [draw.integer(0 if kind == "sections" else 1, 4) for _ in range(count)]
    picked = draw.integer(0, count - 1)
    sizes[picked] = n
    if kind == "sections":
        return sizes, picked, {"by": list(sizes)}
    return sizes, picked, {"by": tuple(itertools.accumulate(sizes[:-1]))}


_DIVIDED = {
    "torch.chunk": ("chunk", ["torch.chunk({0}, {by}, dim={dim})", "{0}.chunk({by}, {dim})"]),
    "torch.split": ("split", ["torch.split({0}, {by}, dim={dim})", "{0}.split({by}, {dim})"]),
    "torch.split.sections": ("sections", ["torch.split({0}, {by}, {dim})", "{0}.split({by}, dim={dim})"]),
    "torch.split_with_sizes": (
        "sections",
        ["torch.split_with_sizes({0}, {by}, {dim})", "{0}.split_with_sizes({by}, dim={dim})"],
    ),
    "torch.tensor_split": (
        "tensor_split",
        ["torch.tensor_split({0}, {by}, dim={dim})", "{0}.tensor_split({by}, {dim})"],
    ),
    "torch.tensor_split.indices": (
        "indices",
        ["torch.tensor_split({0}, {by}, dim={dim})", "{0}.tensor_split({by}, dim={dim})"],
    ),
}

for _name, (_kind, _forms) in _DIVIDED.items():

    @fixed_view_of(_name, rank=(1, 5))
    def divide(draw: Draw, out: Spec, _kind: str = _kind, _forms: list[str] = _forms) -> Needs:
        """One part of a tensor split along an axis, unpacked or selected by index."""
        axis = draw.axis(out)
        sizes, picked, params = _divided(draw, out, axis, _kind)
        make = _parted if draw.chance(0.6) else _part
        return make(out, axis, sizes, picked, _forms, dim=draw.signed_axis(axis, out.rank), **params)


for _name, _axis, _rank in (("hsplit", 1, 2), ("vsplit", 0, 2), ("dsplit", 2, 3)):

    @fixed_view_of(f"torch.{_name}", rank=(_rank, 5))
    def divide_along(draw: Draw, out: Spec, _name: str = _name, _axis: int = _axis) -> Needs:
        """One part of a tensor split along the axis of the name."""
        sizes, picked, params = _divided(draw, out, _axis, draw.choice(("tensor_split", "indices")))
        forms = [f"torch.{_name}({{0}}, {{by}})", f"{{0}}.{_name}({{by}})"]
        return (_parted if draw.chance(0.6) else _part)(out, _axis, sizes, picked, forms, **params)


@fixed_view_of("torch.unbind", rank=(0, 4))
def unbind(draw: Draw, out: Spec) -> Needs:
    """One of the slices along an axis, unpacked or selected by index."""
    axis = draw.integer(0, out.rank)
    count = draw.integer(2, 4)
    whole = small(out.of(*out.shape[:axis], count, *out.shape[axis:]))
    forms = ["torch.unbind({0}, dim={dim})", "{0}.unbind({dim})", *(["{0}.unbind()"] if axis == 0 else [])]
    dim, picked = draw.signed_axis(axis, out.rank + 1), draw.integer(0, count - 1)
    if draw.chance(0.6):
        return Needs(whole, outputs=[out.free()] * count, picked=picked, forms=forms, dim=dim)
    return Needs(whole, forms=[f"{form}[{picked}]" for form in forms], dim=dim)


# Windows and diagonals


@fixed_view_of("torch.Tensor.unfold", "{0}.unfold({dim}, {size}, {step})", rank=(2, 5))
def unfold(draw: Draw, out: Spec) -> Needs:
    """Windows that slide along an axis and may overlap."""
    axis = draw.integer(0, out.rank - 2)
    count, size = out.shape[axis], out.shape[-1]
    step = draw.integer(1, 3)
    if count < 1 or size < 1:
        raise UnsatisfiableSpec("an empty window")
    if size == 1 and isinstance(count, Dim):
        step, n = 1, count
    elif count == 1:
        n = size
    else:
        n = (count - 1) * step + size
    operand = small(out.of(*with_axis(out.shape[:-1], axis, n)))
    return Needs(operand, dim=draw.signed_axis(axis, out.rank - 1), size=size, step=step)


def _square(draw: Draw, n: int) -> tuple[int, int, int]:
    """Rows, columns and the offset of a diagonal that has ``n`` elements."""
    if isinstance(n, Dim):
        return n, n, 0
    above, more = draw.choice((0, 0, 1, 2)), draw.choice((0, 0, 1))
    if n == 0:
        return 0, above, 0
    return (n + more, n + above, above) if draw.chance(0.5) else (n + above, n + more, -above)


@view_of("torch.diagonal", rank=(1, 4))
def diagonal(draw: Draw, out: Spec) -> Needs:
    """A diagonal of two axes, as the last one."""
    rows, columns, offset = _square(draw, out.shape[-1])
    if draw.chance(0.4):
        forms = ["torch.diagonal({0}, {offset}, -2, -1)", "{0}.diagonal({offset}, dim1=-2, dim2=-1)"]
        return Needs(small(out.of(*out.shape[:-1], rows, columns)), forms=forms, offset=offset)
    forms = ["torch.diagonal({0}, {offset})", "{0}.diagonal(offset={offset})", "torch.diagonal({0}, {offset}, 0, 1)"]
    return Needs(small(out.of(rows, columns, *out.shape[:-1])), forms=forms, offset=offset)


def _of_square(draw: Draw, out: Spec) -> tuple[Spec, int]:
    """The spec of the diagonals of square matrices, and their offset. Raises UnsatisfiableSpec."""
    n = out.shape[-1]
    if n != out.shape[-2]:
        raise UnsatisfiableSpec("not square")
    offset = 0 if isinstance(n, Dim) or n < 3 else draw.choice((0, 0, 1, -1, 2))
    return out.of(*out.shape[:-2], n - abs(offset) if offset else n), offset


@copy_of("torch.diag", "torch.diag({0}, {offset})", "{0}.diag({offset})", rank=(2, 2))
def diag(draw: Draw, out: Spec) -> Needs:
    """A matrix with a vector as a diagonal."""
    operand, offset = _of_square(draw, out)
    return Needs(operand, values=lambda x: x.over(ZERO), offset=offset)


@view_of("torch.diag.matrix", "torch.diag({0}, {offset})", "{0}.diag({offset})", rank=(1, 1))
def diag_of_matrix(draw: Draw, out: Spec) -> Needs:
    """The diagonal of a matrix."""
    rows, columns, offset = _square(draw, out.shape[0])
    return Needs(small(out.of(rows, columns)), offset=offset)


@copy_of("torch.diag_embed", "torch.diag_embed({0}, {offset})", "{0}.diag_embed({offset}, -2, -1)", rank=(2, 4))
def diag_embed(draw: Draw, out: Spec) -> Needs:
    """Square matrices with vectors as their diagonals."""
    operand, offset = _of_square(draw, out)
    return Needs(operand, values=lambda x: x.over(ZERO), offset=offset)


for _name in ("tril", "triu"):

    @copy_of(
        f"torch.{_name}",
        f"torch.{_name}({{0}}, {{offset}})",
        f"{{0}}.{_name}({{offset}})",
        f"torch.{_name}({{0}}, diagonal={{offset}})",
        rank=(2, 5),
        inplace=[f"{{0}}.{_name}_({{offset}})"],
        out=[f"torch.{_name}({{0}}, {{offset}}, out={{out}})"],
    )
    def triangle(draw: Draw, out: Spec) -> Needs:
        """The elements below or above a diagonal, zeros elsewhere."""
        return Needs(out.free(), values=lambda x: x.over(ZERO), offset=draw.choice((0, 0, 1, -1, 2, -3)))


@fixed_view_of("torch.as_strided", rank=(1, 4))
def as_strided(draw: Draw, out: Spec) -> Needs:
    """Contiguous memory with other strides, sometimes with overlapping elements."""
    if not out.is_static or out.numel == 0:
        raise UnsatisfiableSpec("strides of a size that changes, or of nothing")
    strides = [0] * out.rank
    step = draw.choice((1, 1, 1, 2))
    for axis in draw.order(out.rank):
        strides[axis] = step
        step = step * out.shape[axis] if draw.chance(0.75) else step + 1
    start = draw.integer(0, 3)
    least = 1 + start + sum((n - 1) * s for n, s in zip(out.shape, strides, strict=True))
    width = draw.choice((1, 2, 4))
    operand = out.of(-(-least // width), width) if width > 1 and draw.chance(0.4) else out.of(least)
    forms = ["torch.as_strided({0}, {size}, {strides})", "{0}.as_strided({size}, {strides})"]
    if start:
        forms = ["torch.as_strided({0}.clone(), {size}, {strides}, {start})"]
    return Needs(small(operand).dense(), forms=forms, size=out.shape, strides=tuple(strides), start=start)


@copy_of("torch.slice_copy", "torch.slice_copy({0}, {dim}, {start}, {end}, {step})", dtypes=REAL + BOOL, rank=(1, 5))
def slice_copy(draw: Draw, out: Spec) -> Needs:
    """A slice, copied."""
    axis = draw.axis(out)
    n, start, step = out.shape[axis], draw.integer(0, 2), draw.choice((1, 2, 3))
    if n == 0:
        raise UnsatisfiableSpec("an empty slice")
    length = start + (n - 1) * step + 1
    return Needs(small(out.of(*with_axis(out.shape, axis, length))), dim=axis, start=start, end=length, step=step)
