"""Operators that change the shape, not the order of elements."""

from __future__ import annotations

from functools import partial

from eqfuzz.generate.dag.catalogue.operator import Needs, operator
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.sizes import axis_of_one, factors, regrouped, size_argument, small, times, with_axis
from eqfuzz.generate.dag.values.spec import EVERY, Range, Spec

ZERO = Range(0, 0, exact=True)
copy_of = partial(operator, dtypes=EVERY, family="shapes", exact=True, saves=False)
view_of = partial(operator, dtypes=EVERY, family="shapes", exact=True, saves=False, view=True)
fixed_view_of = partial(operator, dtypes=EVERY, family="shapes", exact=True, saves=False, view=True, written=False)


@view_of("torch.reshape", dense=True, weight=3)
def reshape(draw: Draw, out: Spec) -> Needs:
    """Axes merged, split or swapped in size; sometimes with -1."""
    size = regrouped(draw, out.shape)
    written = size_argument(draw, out.shape, size)
    forms = [f"{{0}}.reshape({written})"]
    if written.startswith("("):
        forms += [f"torch.reshape({{0}}, {written})", f"torch.reshape({{0}}, shape={written})"]
    return Needs(out.of(*size), forms=forms)


@view_of("torch.Tensor.view", dense=True, weight=2)
def view(draw: Draw, out: Spec) -> Needs:
    """Of contiguous tensors."""
    size = regrouped(draw, out.shape)
    return Needs(out.of(*size).dense(), forms=[f"{{0}}.view({size_argument(draw, out.shape, size)})"])


for _name in ("view_as", "reshape_as"):

    @view_of(f"torch.Tensor.{_name}", f"{{0}}.{_name}({{1}})", dense=True)
    def like_another(draw: Draw, out: Spec) -> Needs:
        """In the shape of another tensor."""
        return Needs(out.of(*regrouped(draw, out.shape)).dense(), out.free(), values=lambda x, y: x)


@view_of("torch.Tensor.view.same", dense=True)
def same_view(draw: Draw, out: Spec) -> Needs:
    """A view of the whole tensor."""
    forms = ["{0}[...]", "{0}.view_as({0})", "{0}.reshape({0}.shape)", "{0}.expand_as({0})", "{0}.expand({0}.size())"]
    if out.rank:
        forms += ["{0}[:]", "{0}[..., :]", "{0}.transpose(0, -1).transpose(0, -1)"]
    return Needs(out.free(), forms=forms)


@view_of("torch.flatten", dense=True, rank=(1, 5))
def flatten(draw: Draw, out: Spec) -> Needs:
    """Two or three axes merged."""
    axis = draw.axis(out)
    parts = list(factors(draw, out.shape[axis]))
    if draw.chance(0.3) and out.rank < 4:
        parts[1:] = factors(draw, parts[1])
    end = draw.signed_axis(axis + len(parts) - 1, out.rank + len(parts) - 1)
    forms = ["torch.flatten({0}, {start}, {end})", "{0}.flatten({start}, {end})"]
    forms += ["torch.flatten({0}, start_dim={start}, end_dim={end})"]
    if end == out.rank + len(parts) - 2 or end == -1:
        forms += ["{0}.flatten({start})", "torch.flatten({0}, start_dim={start})"]
    return Needs(small(out.of(*with_axis(out.shape, axis, *parts))), forms=forms, start=axis, end=end)


@view_of("torch.ravel", "torch.ravel({0})", "{0}.ravel()", "{0}.flatten()", "{0}.reshape(-1)", dense=True, rank=(1, 1))
def ravel(draw: Draw, out: Spec) -> Needs:
    """All axes merged."""
    parts = factors(draw, out.shape[0])
    if draw.chance(0.5):
        parts = (parts[0], *factors(draw, parts[1]))
    return Needs(out.of(*parts))


@view_of("torch.unflatten", dense=True, rank=(2, 5))
def unflatten(draw: Draw, out: Spec) -> Needs:
    """One axis split in two; one of the sizes may be -1."""
    axis = draw.integer(0, out.rank - 2)
    a, b = out.shape[axis : axis + 2]
    size = (*out.shape[:axis], times(a, b), *out.shape[axis + 2 :])
    sizes = draw.choice([(a, b), *([(-1, b)] if b > 0 else []), *([(a, -1)] if a > 0 else [])])
    forms = ["torch.unflatten({0}, {dim}, {sizes})", "{0}.unflatten({dim}, {sizes})"]
    return Needs(out.of(*size), forms=forms, dim=draw.signed_axis(axis, out.rank - 1), sizes=sizes)


@view_of("torch.squeeze", dense=True, rank=(0, 4))
def squeeze(draw: Draw, out: Spec) -> Needs:
    """Axes of size 1 removed: all, one, or two of them."""
    axis = draw.integer(0, out.rank)
    size = (*out.shape[:axis], 1, *out.shape[axis:])
    forms = ["torch.squeeze({0}, {dim})", "{0}.squeeze({dim})", "torch.squeeze({0}, dim={dim})"]
    if all(n != 1 for n in out.shape):
        forms += ["torch.squeeze({0})", "{0}.squeeze()"]
    if draw.chance(0.2) and out.rank < 4:
        other = draw.integer(axis, out.rank)
        size = (*size[: other + 1], 1, *size[other + 1 :])
        forms = [f"torch.squeeze({{0}}, ({{dim}}, {other + 1}))", f"{{0}}.squeeze(({other + 1}, {{dim}}))"]
        return Needs(out.of(*size), forms=forms, dim=axis)
    return Needs(out.of(*size), forms=forms, dim=draw.signed_axis(axis, out.rank + 1))


@view_of("torch.unsqueeze", dense=True, rank=(1, 5))
def unsqueeze(draw: Draw, out: Spec) -> Needs:
    """A new axis of size 1; also by indexing."""
    axis = axis_of_one(draw, out)
    forms = ["torch.unsqueeze({0}, {dim})", "{0}.unsqueeze({dim})", f"{{0}}[{':, ' * axis}None]"]
    if axis == out.rank - 1:
        forms += ["{0}[..., None]", "{0}.unsqueeze(-1)", "{0}[..., None]"]
    return Needs(out.of(*with_axis(out.shape, axis)), forms=forms, dim=draw.signed_axis(axis, out.rank))


@view_of(
    "torch.Tensor.contiguous", "{0}.contiguous()", "{0}.contiguous(memory_format=torch.contiguous_format)", dense=True
)
def contiguous(draw: Draw, out: Spec) -> Needs:
    """The tensor itself where it is contiguous, otherwise a copy."""
    return Needs(out.free())


@view_of(
    "torch.Tensor.contiguous.channels_last",
    "{0}.contiguous(memory_format=torch.channels_last)",
    "{0}.to(memory_format=torch.channels_last)",
    rank=(4, 4),
)
def channels_last(draw: Draw, out: Spec) -> Needs:
    """In channels-last memory format."""
    return Needs(out.free())


@copy_of(
    "torch.clone",
    "torch.clone({0})",
    "{0}.clone()",
    "{0}.clone(memory_format=torch.contiguous_format)",
    name_hint="copy",
)
def clone(draw: Draw, out: Spec) -> Needs:
    """A copy."""
    return Needs(out.free())


for _name in ("conj", "neg"):

    @view_of(f"torch.resolve_{_name}", f"torch.resolve_{_name}({{0}})", f"{{0}}.resolve_{_name}()", dense=True)
    def resolve(draw: Draw, out: Spec) -> Needs:
        """With a lazy conjugation or negation materialised."""
        return Needs(out.free())


for _rank in (1, 2, 3):

    @view_of(f"torch.atleast_{_rank}d", f"torch.atleast_{_rank}d({{0}})", dense=True, rank=(_rank, 5))
    def atleast(draw: Draw, out: Spec, _rank: int = _rank) -> Needs:
        """With axes of size 1 summed to the rank of the name."""
        size = out.shape
        if out.rank == _rank and draw.chance(0.7):
            if all(n == 1 for n in size):
                size = ()
            elif _rank == 2 and size[0] == 1:
                size = size[1:]
            elif _rank == 3 and size[2] == 1:
                size = size[1:2] if size[0] == 1 and draw.chance(0.5) else size[:2]
        return Needs(out.of(*size))


@copy_of("torch.view_copy", "torch.view_copy({0}, {size})")
def view_copy(draw: Draw, out: Spec) -> Needs:
    """In another shape, copied."""
    return Needs(out.of(*regrouped(draw, out.shape)).dense(), size=out.shape)


@copy_of("torch.unsqueeze_copy", "torch.unsqueeze_copy({0}, {dim})", rank=(1, 5))
def unsqueeze_copy(draw: Draw, out: Spec) -> Needs:
    """A new axis of size 1, copied."""
    axis = axis_of_one(draw, out)
    return Needs(out.of(*with_axis(out.shape, axis)), dim=axis)
