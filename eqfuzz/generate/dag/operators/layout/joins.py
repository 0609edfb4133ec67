"""Operators that join tensors."""

from __future__ import annotations

from collections.abc import Sequence

from eqfuzz.generate.dag.catalogue.operator import Needs
from eqfuzz.generate.dag.operators.layout.shapes import ZERO, copy_of
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.sizes import factors, with_axis
from eqfuzz.generate.dag.values.spec import REAL, Dim, Spec, UnsatisfiableSpec


def _joined(out: Spec, axis: int, sizes: Sequence[int]) -> list[Spec]:
    return [out.of(*with_axis(out.shape, axis, n)) for n in sizes]


def _names(count: int) -> str:
    return ", ".join(f"{{{i}}}" for i in range(count))


def _pieces(draw: Draw, n: int) -> list[int]:
    """Sizes whose sum is ``n``, sometimes with a 0 among them; a changing size is not divided."""
    if isinstance(n, Dim) or n == 0:
        return [n, 0] if draw.chance(0.7) else [0, n]
    sizes = draw.split(n, min(draw.integer(1, 3), n))
    return [*sizes, 0] if draw.chance(0.05) else sizes


for _name in ("cat", "concat", "concatenate"):

    @copy_of(f"torch.{_name}", rank=(1, 5), name_hint="joined", weight=2 if _name == "cat" else 1)
    def cat(draw: Draw, out: Spec, _name: str = _name) -> Needs:
        """Tensors concatenated along an axis."""
        axis = draw.axis(out)
        inputs = _joined(out, axis, _pieces(draw, out.shape[axis]))
        listed = _names(len(inputs))
        forms = [f"torch.{_name}([{listed}], dim={{dim}})", f"torch.{_name}(({listed},), {{dim}})"]
        return Needs(*inputs, forms=forms, dim=draw.signed_axis(axis, out.rank))


@copy_of("torch.stack", rank=(1, 5), name_hint="stacked", weight=2)
def stack(draw: Draw, out: Spec) -> Needs:
    """Tensors stacked along a new axis."""
    axis = draw.choice([i for i, n in enumerate(out.shape) if not isinstance(n, Dim) and 1 <= n <= 5])
    count = out.shape[axis]
    listed = _names(count)
    forms = [f"torch.stack([{listed}], dim={{dim}})", f"torch.stack(({listed},), {{dim}})"]
    return Needs(*[out.of(*with_axis(out.shape, axis))] * count, forms=forms, dim=draw.signed_axis(axis, out.rank))


for _name, _axis, _least in (("hstack", 1, 1), ("vstack", 0, 2), ("dstack", 2, 3), ("column_stack", 1, 2)):

    @copy_of(f"torch.{_name}", rank=(_least, 4), name_hint="joined")
    def stack_along(draw: Draw, out: Spec, _name: str = _name, _axis: int = _axis) -> Needs:
        """Tensors concatenated along the axis of the name; they may have fewer dimensions."""
        axis = 0 if out.rank == 1 else _axis
        n = out.shape[axis]
        flat = out.rank == 2 and _name in ("vstack", "column_stack") and draw.chance(0.3)
        if (flat or (_name == "dstack" and out.rank == 3 and draw.chance(0.3))) and not isinstance(n, Dim):
            if not 1 <= n <= 4:
                raise UnsatisfiableSpec("too many")
            inputs = [out.of(*with_axis(out.shape, axis))] * n
        else:
            inputs = _joined(out, axis, _pieces(draw, n))
        listed = _names(len(inputs))
        return Needs(*inputs, forms=[f"torch.{_name}([{listed}])", f"torch.{_name}(({listed},))"])


@copy_of("torch.block_diag", rank=(2, 2))
def block_diag(draw: Draw, out: Spec) -> Needs:
    """Matrices along the diagonal of a zero matrix."""
    count = draw.integer(1, 3)
    rows, columns = draw.split(out.shape[0], count), draw.split(out.shape[1], count)
    inputs = [out.of(a, b) for a, b in zip(rows, columns, strict=True)]
    values = lambda x, *others: x.over(*others, ZERO)  # noqa: E731
    return Needs(*inputs, values=values, forms=[f"torch.block_diag({_names(count)})"])


@copy_of("torch.cartesian_prod", "torch.cartesian_prod({0}, {1})", dtypes=REAL, rank=(2, 2))
def cartesian_prod(draw: Draw, out: Spec) -> Needs:
    """All pairs of the elements of two vectors."""
    if out.shape[1] != 2:
        raise UnsatisfiableSpec("pairs only")
    first, second = factors(draw, out.shape[0])
    return Needs(out.of(first), out.of(second))


@copy_of("torch.combinations", rank=(2, 2), dtypes=REAL)
def combinations(draw: Draw, out: Spec) -> Needs:
    """All pairs of elements of a vector, with or without replacement."""
    again = draw.chance(0.4)
    counts = {n * (n + 1) // 2 if again else n * (n - 1) // 2: n for n in range(2, 16)}
    if out.shape[1] != 2 or isinstance(out.shape[0], Dim) or out.shape[0] not in counts:
        raise UnsatisfiableSpec("not a number of pairs")
    form = "torch.combinations({0}, r=2, with_replacement=True)" if again else "torch.combinations({0})"
    return Needs(out.of(counts[out.shape[0]]), forms=[form])
