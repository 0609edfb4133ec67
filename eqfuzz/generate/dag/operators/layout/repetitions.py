"""Operators that repeat elements: expanded without a copy, or copied side by side."""

from __future__ import annotations

from eqfuzz.generate.dag.catalogue.operator import Needs
from eqfuzz.generate.dag.operators.layout.shapes import copy_of, fixed_view_of
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.sizes import listed_sizes, shrunk, with_axis
from eqfuzz.generate.dag.values.spec import Dim, Spec


@fixed_view_of("torch.Tensor.expand", rank=(1, 5), weight=2)
def expand(draw: Draw, out: Spec) -> Needs:
    """Axes of size 1 repeated without a copy; -1 keeps an axis."""
    size = shrunk(draw, out)
    new = out.rank - len(size)
    sizes = [-1 if i >= new and size[i - new] == n and draw.chance(0.5) else n for i, n in enumerate(out.shape)]
    return Needs(
        out.of(*size),
        forms=["{0}.expand({sizes})", "{0}.expand({listed})"],
        sizes=tuple(sizes),
        listed=listed_sizes(sizes),
    )


@fixed_view_of("torch.Tensor.expand_as", "{0}.expand_as({1})", rank=(1, 5))
def expand_as(draw: Draw, out: Spec) -> Needs:
    """Expanded to the size of another tensor."""
    return Needs(out.of(*shrunk(draw, out)), out.free(), values=lambda x, y: x)


@fixed_view_of("torch.broadcast_to", "torch.broadcast_to({0}, {size})", "{0}.broadcast_to({size})", rank=(1, 5))
def broadcast_to(draw: Draw, out: Spec) -> Needs:
    """Expanded to a size."""
    return Needs(out.of(*shrunk(draw, out)), size=out.shape)


@fixed_view_of(
    "torch.broadcast_tensors",
    "torch.broadcast_tensors({0}, {1})[0]",
    "torch.broadcast_tensors({1}, {0})[1]",
    rank=(1, 5),
)
def broadcast_tensors(draw: Draw, out: Spec) -> Needs:
    """One of two tensors after broadcasting."""
    return Needs(out.of(*shrunk(draw, out)), out.free(), values=lambda x, y: x)


@fixed_view_of("torch.meshgrid", rank=(2, 3))
def meshgrid(draw: Draw, out: Spec) -> Needs:
    """The coordinates of a grid along one of its axes."""
    axis = draw.axis(out)
    order = [axis, *(i for i in range(out.rank) if i != axis)]
    names = ", ".join(f"{{{order.index(i)}}}" for i in range(out.rank))
    forms = [f'torch.meshgrid({names}, indexing="ij")[{axis}]']
    inputs = [out.of(out.shape[i]) for i in order]
    if out.rank == 2:
        swapped = ", ".join(f"{{{order.index(i)}}}" for i in (1, 0))
        forms += [f'torch.meshgrid({swapped}, indexing="xy")[{1 - axis}]']
    return Needs(*inputs, values=lambda x, *others: x, forms=forms)


for _name in ("repeat", "tile"):

    @copy_of(f"torch.{_name}", rank=(1, 5))
    def repeat(draw: Draw, out: Spec, _name: str = _name) -> Needs:
        """Copies side by side, sometimes along new axes."""
        times: list[int] = []
        size: list[int] = []
        new = draw.integer(0, out.rank) if draw.chance(0.3) else 0
        for i, n in enumerate(out.shape):
            if i < new:
                times.append(n)
                continue
            count = (
                n
                if draw.chance(0.15)
                else 1
                if isinstance(n, Dim) or n == 0
                else draw.choice([k for k in (1, 1, 2, 3, 4) if n % k == 0])
            )
            times.append(count)
            size.append(1 if count == n else n if count == 1 else n // count)
        forms = ["{0}.tile({times})", "torch.tile({0}, {times})"]
        if _name == "repeat":
            forms = ["{0}.repeat({times})", "{0}.repeat({listed})"]
        return Needs(out.of(*size), forms=forms, times=tuple(times), listed=listed_sizes(times))


@copy_of(
    "torch.repeat_interleave",
    "torch.repeat_interleave({0}, {times}, dim={dim})",
    "{0}.repeat_interleave({times}, {dim})",
    rank=(1, 5),
)
def repeat_interleave(draw: Draw, out: Spec) -> Needs:
    """Each element repeated."""
    axis = draw.axis(out)
    n = out.shape[axis]
    if draw.chance(0.2) and n > 0:
        return Needs(out.of(*with_axis(out.shape, axis, 1)), times=n, dim=draw.signed_axis(axis, out.rank))
    times = draw.choice([k for k in (1, 2, 2, 3, 4) if n % k == 0])
    return Needs(out.of(*with_axis(out.shape, axis, n // times)), times=times, dim=draw.signed_axis(axis, out.rank))


@copy_of("torch.expand_copy", "torch.expand_copy({0}, {size})", rank=(1, 5))
def expand_copy(draw: Draw, out: Spec) -> Needs:
    """Expanded, copied."""
    return Needs(out.of(*shrunk(draw, out)), size=out.shape)
