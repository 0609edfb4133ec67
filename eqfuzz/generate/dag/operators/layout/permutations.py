"""Operators that permute axes or elements."""

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
        """Two axes swapped."""
        first, second = draw.axis(out), draw.axis(out)
        size = list(out.shape)
        size[first], size[second] = size[second], size[first]
        return Needs(out.of(*size), first=draw.signed_axis(first, out.rank), second=draw.signed_axis(second, out.rank))


@view_of("torch.t", "torch.t({0})", "{0}.t()", rank=(0, 2))
def t(draw: Draw, out: Spec) -> Needs:
    """The transpose of a matrix; a vector is returned as it is."""
    return Needs(out.of(*reversed(out.shape)))


@view_of("torch.Tensor.mT", "{0}.mT", "torch.transpose({0}, -2, -1)", "{0}.transpose(-1, -2)", rank=(2, 5))
def matrix_transpose(draw: Draw, out: Spec) -> Needs:
    """The last two axes swapped."""
    return Needs(out.of(*out.shape[:-2], out.shape[-1], out.shape[-2]))


@view_of("torch.adjoint", "torch.adjoint({0})", "{0}.adjoint()", "{0}.mH", rank=(2, 5))
def adjoint(draw: Draw, out: Spec) -> Needs:
    """The conjugate transpose."""
    operand = out.of(*out.shape[:-2], out.shape[-1], out.shape[-2])
    return Needs(operand, values=lambda x: Range(-x.most, x.most, x.exact) if out.is_complex else x)


@view_of("torch.permute", "torch.permute({0}, {dims})", "{0}.permute({dims})", "{0}.permute({listed})", rank=(1, 5))
def permute(draw: Draw, out: Spec) -> Needs:
    """The axes permuted."""
    order = draw.order(out.rank)
    size = [0] * out.rank
    for i, axis in enumerate(order):
        size[axis] = out.shape[i]
    dims = tuple(draw.signed_axis(axis, out.rank) for axis in order)
    return Needs(out.of(*size), dims=dims, listed=listed_sizes(dims))


for _name in ("movedim", "moveaxis"):

    @view_of(
        f"torch.{_name}", f"torch.{_name}({{0}}, {{source}}, {{to}})", f"{{0}}.{_name}({{source}}, {{to}})", rank=(1, 5)
    )
    def movedim(draw: Draw, out: Spec) -> Needs:
        """One or two axes moved to other positions."""
        if out.rank > 1 and draw.chance(0.3):
            first, second = draw.order(out.rank)[:2]
            size = list(out.shape)
            size[first], size[second] = size[second], size[first]
            return Needs(out.of(*size), source=(first, second), to=(second, first))
        source, to = draw.axis(out), draw.axis(out)
        size = list(out.shape)
        size.insert(source, size.pop(to))
        return Needs(out.of(*size), source=draw.signed_axis(source, out.rank), to=draw.signed_axis(to, out.rank))


@copy_of("torch.flip", "torch.flip({0}, {dims})", "{0}.flip({dims})", "{0}.flip({listed})", rank=(1, 5))
def flip(draw: Draw, out: Spec) -> Needs:
    """Reversed along some axes."""
    dims = tuple(draw.signed_axis(axis, out.rank) for axis in draw.axes(out))
    return Needs(out.free(), dims=dims, listed=listed_sizes(dims))


for _name, _rank in (("fliplr", 2), ("flipud", 1)):

    @copy_of(f"torch.{_name}", f"torch.{_name}({{0}})", f"{{0}}.{_name}()", rank=(_rank, 5))
    def flip_one(draw: Draw, out: Spec) -> Needs:
        """Reversed along the first axis, or the second."""
        return Needs(out.free())


@copy_of("torch.roll", rank=(1, 5))
def roll(draw: Draw, out: Spec) -> Needs:
    """Rotated along some axes, or in flattened order."""
    if draw.chance(0.2):
        return Needs(out.free(), forms=["torch.roll({0}, {by})", "{0}.roll({by})"], by=draw.integer(-5, 5))
    dims = draw.axes(out)[:2]
    by = tuple(draw.integer(-4, 4) for _ in dims)
    forms = ["torch.roll({0}, {by}, {dims})", "{0}.roll({by}, {dims})", "torch.roll({0}, shifts={by}, dims={dims})"]
    if len(dims) == 1:
        return Needs(out.free(), forms=forms, by=by[0], dims=draw.signed_axis(dims[0], out.rank))
    return Needs(out.free(), forms=forms, by=by, dims=dims)


@view_of("torch.rot90", "torch.rot90({0}, {times}, {dims})", "{0}.rot90({times}, {dims})", rank=(2, 5))
def rot90(draw: Draw, out: Spec) -> Needs:
    """Rotated in a plane; not contiguous where that swaps the axes."""
    first, second = draw.order(out.rank)[:2]
    times = draw.integer(-1, 3)
    size = list(out.shape)
    if times % 2:
        size[first], size[second] = size[second], size[first]
    return Needs(out.of(*size), times=times, dims=(first, second))


@copy_of("torch.transpose_copy", "torch.transpose_copy({0}, {first}, {second})", rank=(1, 5))
def transpose_copy(draw: Draw, out: Spec) -> Needs:
    """Two axes swapped, copied."""
    first, second = draw.axis(out), draw.axis(out)
    size = list(out.shape)
    size[first], size[second] = size[second], size[first]
    return Needs(out.of(*size), first=first, second=second)
