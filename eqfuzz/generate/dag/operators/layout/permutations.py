"""Operators that put axes or elements in another order."""

from __future__ import annotations

from eqfuzz.generate.dag.catalogue.operator import Needs
from eqfuzz.generate.dag.operators.layout.shapes import copy_of, view_of
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.sizes import listed_sizes
from eqfuzz.generate.dag.values.spec import Range, Spec

for _name in ("transpose", "swapaxes", "swapdims"):

    @view_of(
        f"torch.{_name}",
        f"torch.{_name}({{0}}, {{first}}, {{second}})",
        f"{{0}}.{_name}({{first}}, {{second}})",
        rank=(1, 5),
    )
    def transpose(draw: Draw, out: Spec) -> Needs:
        """Two axes change places."""
        first, second = draw.axis(out), draw.axis(out)
        size = list(out.shape)
        size[first], size[second] = size[second], size[first]
        return Needs(out.of(*size), first=draw.spelled(first, out.rank), second=draw.spelled(second, out.rank))


@view_of("torch.t", "torch.t({0})", "{0}.t()", rank=(0, 2))
def t(draw: Draw, out: Spec) -> Needs:
    """The transpose of a matrix; vectors stay as they are."""
    return Needs(out.of(*reversed(out.shape)))


@view_of("torch.Tensor.mT", "{0}.mT", "torch.transpose({0}, -2, -1)", "{0}.transpose(-1, -2)", rank=(2, 5))
def matrix_transpose(draw: Draw, out: Spec) -> Needs:
    """The last two axes change places."""
    return Needs(out.of(*out.shape[:-2], out.shape[-1], out.shape[-2]))


@view_of("torch.adjoint", "torch.adjoint({0})", "{0}.adjoint()", "{0}.mH", rank=(2, 5))
def adjoint(draw: Draw, out: Spec) -> Needs:
    """The transpose, conjugated."""
    given = out.of(*out.shape[:-2], out.shape[-1], out.shape[-2])
    return Needs(given, values=lambda x: Range(-x.most, x.most, x.exact) if out.is_complex else x)


@view_of("torch.permute", "torch.permute({0}, {dims})", "{0}.permute({dims})", "{0}.permute({listed})", rank=(1, 5))
def permute(draw: Draw, out: Spec) -> Needs:
    """The axes in another order."""
    order = draw.order(out.rank)
    size = [0] * out.rank
    for i, axis in enumerate(order):
        size[axis] = out.shape[i]
    dims = tuple(draw.spelled(axis, out.rank) for axis in order)
    return Needs(out.of(*size), dims=dims, listed=listed_sizes(dims))


for _name in ("movedim", "moveaxis"):

    @view_of(
        f"torch.{_name}", f"torch.{_name}({{0}}, {{source}}, {{to}})", f"{{0}}.{_name}({{source}}, {{to}})", rank=(1, 5)
    )
    def movedim(draw: Draw, out: Spec) -> Needs:
        """One axis, or two, to other places."""
        if out.rank > 1 and draw.chance(0.3):
            first, second = draw.order(out.rank)[:2]
            size = list(out.shape)
            size[first], size[second] = size[second], size[first]
            return Needs(out.of(*size), source=(first, second), to=(second, first))
        source, to = draw.axis(out), draw.axis(out)
        size = list(out.shape)
        size.insert(source, size.pop(to))
        return Needs(out.of(*size), source=draw.spelled(source, out.rank), to=draw.spelled(to, out.rank))


@copy_of("torch.flip", "torch.flip({0}, {dims})", "{0}.flip({dims})", "{0}.flip({listed})", rank=(1, 5))
def flip(draw: Draw, out: Spec) -> Needs:
    """Backwards along some axes."""
    dims = tuple(draw.spelled(axis, out.rank) for axis in draw.axes(out))
    return Needs(out.free(), dims=dims, listed=listed_sizes(dims))


for _name, _rank in (("fliplr", 2), ("flipud", 1)):

    @copy_of(f"torch.{_name}", f"torch.{_name}({{0}})", f"{{0}}.{_name}()", rank=(_rank, 5))
    def flip_one(draw: Draw, out: Spec) -> Needs:
        """Backwards along the first axis, or the second."""
        return Needs(out.free())


@copy_of("torch.roll", rank=(1, 5))
def roll(draw: Draw, out: Spec) -> Needs:
    """Moved round along axes, or as if there was but one."""
    if draw.chance(0.2):
        return Needs(out.free(), spellings=["torch.roll({0}, {by})", "{0}.roll({by})"], by=draw.integer(-5, 5))
    dims = draw.axes(out)[:2]
    by = tuple(draw.integer(-4, 4) for _ in dims)
    forms = ["torch.roll({0}, {by}, {dims})", "{0}.roll({by}, {dims})", "torch.roll({0}, shifts={by}, dims={dims})"]
    if len(dims) == 1:
        return Needs(out.free(), spellings=forms, by=by[0], dims=draw.spelled(dims[0], out.rank))
    return Needs(out.free(), spellings=forms, by=by, dims=dims)


@view_of("torch.rot90", "torch.rot90({0}, {times}, {dims})", "{0}.rot90({times}, {dims})", rank=(2, 5))
def rot90(draw: Draw, out: Spec) -> Needs:
    """Turned in a plane; not contiguous where that swaps the axes."""
    first, second = draw.order(out.rank)[:2]
    times = draw.integer(-1, 3)
    size = list(out.shape)
    if times % 2:
        size[first], size[second] = size[second], size[first]
    return Needs(out.of(*size), times=times, dims=(first, second))


@copy_of("torch.transpose_copy", "torch.transpose_copy({0}, {first}, {second})", rank=(1, 5))
def transpose_copy(draw: Draw, out: Spec) -> Needs:
    """Two axes change places, in memory of its own."""
    first, second = draw.axis(out), draw.axis(out)
    size = list(out.shape)
    size[first], size[second] = size[second], size[first]
    return Needs(out.of(*size), first=first, second=second)
