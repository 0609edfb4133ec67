"""Orders, extremes and their indices over operands that are transposed, expanded, strided, or overlapping windows."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial

from eqfuzz.generate.dag.catalogue.operator import Needs, operator
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.reduced_sizes import without_ties
from eqfuzz.generate.dag.values.sizes import with_axis
from eqfuzz.generate.dag.values.spec import REAL, WIDE, Dim, Range, Spec, UnsatisfiableSpec, most

_view_order = partial(operator, family="order of views", dense=False)
_DTYPES = (*WIDE, "float32", "int64", "int32", "bfloat16")


@dataclasses.dataclass(frozen=True)
class ViewedOperand:
    """The size of an operand, and the code behind it that views it; no element repeats along the ordered axis."""

    size: tuple[int, ...]
    code: str


def draw_view(draw: Draw, size: tuple[int, ...], axis: int, *, overlaps: bool = True) -> ViewedOperand:
    """A random view that has ``size``; ``axis`` is the one along which it is ordered.

    ``overlaps``: other elements may share memory. Raises UnsatisfiableSpec.
    """
    rank = len(size)
    others = [i for i in range(rank) if i != axis]
    kinds = ["strided", "offset", *(["transposed", "transposed", "permuted"] if rank > 1 else [])]
    if overlaps and others:
        kinds += ["expanded", "expanded", *(["windows"] if axis == rank - 1 else [])]
    kind = draw.choice(kinds)
    if kind == "transposed":
        first, second = draw.order(rank)[:2]
        swapped = list(size)
        swapped[first], swapped[second] = size[second], size[first]
        code = f".transpose({draw.signed_axis(first, rank)}, {draw.signed_axis(second, rank)})"
        return ViewedOperand(tuple(swapped), ".t()" if rank == 2 and draw.chance(0.4) else code)
    if kind == "permuted":
        order = draw.order(rank)
        before = [0] * rank
        for place, source in enumerate(order):
            before[source] = size[place]
        return ViewedOperand(tuple(before), f".permute({', '.join(map(str, order))})")
    if kind == "expanded":
        repeated = draw.choice(others)
        listed = ", ".join(str(n) for n in size)
        if repeated == 0 and draw.chance(0.5):
            return ViewedOperand(size[1:], f".expand({listed})")
        return ViewedOperand(with_axis(size, repeated, 1), f".expand({listed})")
    if kind == "windows":
        count, width = size[-2:]
        if isinstance(count, Dim) or isinstance(width, Dim) or count < 1 or width < 1:
            raise UnsatisfiableSpec("no windows")
        step = draw.choice((1, 1, 2))
        return ViewedOperand((*size[:-2], (count - 1) * step + width), f".unfold({rank - 2}, {width}, {step})")
    sliced = draw.integer(0, rank - 1)
    n = size[sliced]
    if isinstance(n, Dim):
        raise UnsatisfiableSpec("a part of a size that changes")
    before = ":, " * sliced
    if kind == "strided":
        step = draw.choice((2, 3))
        return ViewedOperand(with_axis(size, sliced, n * step), f"[{before}::{step}]")
    start = draw.integer(1, 2)
    return ViewedOperand(with_axis(size, sliced, n + start), f"[{before}{start}:]")


def _reduced(draw: Draw, out: Spec) -> tuple[tuple[int, ...], int, int]:
    """The size of an input with one more axis than ``out``, that axis, and the argument that names it."""
    axis = draw.integer(0, out.rank)
    n = draw.size(9)
    size = (*out.shape[:axis], n, *out.shape[axis:])
    return size, axis, draw.signed_axis(axis, out.rank + 1)


def _element(
    draw: Draw,
    out: Spec,
    form: str,
    certain: Callable[[Spec], Spec],
    *,
    indices: bool,
    overlaps: bool = True,
) -> Needs:
    """Needs of a reduction of one axis of a view to an element, or to its index; ``{dim}`` names the axis.

    ``overlaps``: elements may share memory.
    """
    size, axis, dim = _reduced(draw, out)
    viewed = draw_view(draw, size, axis, overlaps=overlaps)
    dtype = draw.choice(_DTYPES) if indices else out.dtype
    operand = certain(Spec(viewed.size, dtype, exact=out.exact))
    operand = operand if overlaps else operand.dense()
    places = Range(0, most(size[axis]) - 1, exact=True)
    values = lambda x: places if indices else x  # noqa: E731
    return Needs(operand, values=values, forms=[form], code=viewed.code, dim=dim)


def _sorted(draw: Draw, out: Spec, form: str, certain: Callable[[Spec], Spec], *, indices: bool) -> Needs:
    """Needs of an order along one axis of a view, of the same size."""
    if out.numel == 0:
        raise UnsatisfiableSpec("nothing to order")
    axis = draw.axis(out)
    viewed = draw_view(draw, out.shape, axis)
    operand = certain(Spec(viewed.size, draw.choice(_DTYPES) if indices else out.dtype, exact=out.exact))
    places = Range(0, most(out.shape[axis]) - 1, exact=True)
    values = lambda x: places if indices else x  # noqa: E731
    dim = draw.signed_axis(axis, out.rank)
    return Needs(operand, values=values, forms=[form], code=viewed.code, dim=dim)


def _distinct(spec: Spec) -> Spec:
    return without_ties(spec.exactly())


_EXACT_INDICES = {
    "argmax": "torch.argmax({0}{code}, dim={dim})",
    "argmin": "{0}{code}.argmin(dim={dim})",
    "max": "torch.max({0}{code}, dim={dim}).indices",
    "min": "{0}{code}.min(dim={dim})[1]",
}
"""The first of equal elements is defined."""

for _name, _form in _EXACT_INDICES.items():

    @_view_order(f"torch.{_name}.view_indices", dtypes=("int64",), rank=(0, 4), exact=True, name_hint="index")
    def first_place(draw: Draw, out: Spec, _form: str = _form) -> Needs:
        """The index of the first extreme along one axis of a view."""
        return _element(draw, out, _form, Spec.exactly, indices=True)


for _name in ("argmax", "argmin"):

    @_view_order(f"torch.{_name}.view_of_all", dtypes=("int64",), rank=(0, 0), exact=True, name_hint="index")
    def place_of_all(draw: Draw, out: Spec, _name: str = _name) -> Needs:
        """The index of the first extreme in a view, in the order of its dimensions and not of its memory."""
        size = tuple(draw.size(7) for _ in range(draw.integer(2, 3)))
        viewed = draw_view(draw, size, draw.integer(0, len(size) - 1))
        count = 1
        for n in size:
            count *= n
        forms = (f"torch.{_name}({{0}}{{code}})", f"{{0}}{{code}}.{_name}()", f"{{0}}{{code}}.flatten().{_name}(0)")
        operand = Spec(viewed.size, draw.choice(_DTYPES)).exactly()
        return Needs(operand, values=Range(0, count - 1, exact=True), forms=forms, code=viewed.code)


_DISTINCT_INDICES = {
    "median": "torch.median({0}{code}, dim={dim}).indices",
    "kthvalue": "torch.kthvalue({0}{code}, 1, dim={dim}).indices",
    "topk": "torch.topk({0}{code}, 1, dim={dim}).indices.squeeze({dim})",
    "cummax": "torch.cummax({0}{code}, dim={dim}).indices.amax({dim})",
}

for _name, _form in _DISTINCT_INDICES.items():

    @_view_order(f"torch.{_name}.view_indices", dtypes=("int64",), rank=(0, 4), exact=True, name_hint="index")
    def distinct_place(draw: Draw, out: Spec, _form: str = _form) -> Needs:
        """The index of an element along one axis of a view, which has no equal ones."""
        overlaps = "median" not in _form  # for expanded tensors torch 2.13's CPU kernel returns unrelated memory
        return _element(draw, out, _form, _distinct, indices=True, overlaps=overlaps)


_VALUES = {
    "amax": "torch.amax({0}{code}, dim={dim})",
    "amin": "{0}{code}.amin(dim={dim})",
    "max": "{0}{code}.max(dim={dim}).values",
    "aminmax": "torch.aminmax({0}{code}, dim={dim}).min",
    "mode": "torch.mode({0}{code}, dim={dim}).values",
    "kthvalue": "{0}{code}.kthvalue(1, dim={dim}).values",
    "median": "torch.median({0}{code}, dim={dim}).values",
    "nanmedian": "torch.nanmedian({0}{code}, dim={dim}).values",
}

for _name, _form in _VALUES.items():

    @_view_order(f"torch.{_name}.view_values", dtypes=REAL, rank=(0, 4), exact=True, grad=False, name_hint="bound")
    def element(draw: Draw, out: Spec, _name: str = _name, _form: str = _form) -> Needs:
        """An extreme, middle or frequent element along one axis of a view."""
        return _element(draw, out, _form, Spec.exactly, indices=False, overlaps="median" not in _name)


_SORTS = {
    "sort": (
        "torch.sort({0}{code}, stable=True, dim={dim})",
        "{0}{code}.sort(stable=True, dim={dim}, descending=True)",
    ),
    "topk": ("torch.topk({0}{code}, {0}{code}.size({dim}), dim={dim})",),
}

for _name, _forms in _SORTS.items():

    @_view_order(f"torch.{_name}.view_order", dtypes=("int64",), rank=(1, 4), exact=True, name_hint="order")
    def order(draw: Draw, out: Spec, _name: str = _name, _forms: tuple[str, ...] = _forms) -> Needs:
        """The indices that order a view along one axis."""
        certain = Spec.exactly if _name == "sort" else _distinct
        return _sorted(draw, out, f"{draw.choice(_forms)}.indices", certain, indices=True)

    @_view_order(f"torch.{_name}.view_sorted", dtypes=REAL, rank=(1, 4), exact=True, grad=False, name_hint="ordered")
    def ordered(draw: Draw, out: Spec, _forms: tuple[str, ...] = _forms) -> Needs:
        """A view in order along one axis."""
        return _sorted(draw, out, f"{draw.choice(_forms)}.values", Spec.free, indices=False)


for _name in ("cummax", "cummin"):

    @_view_order(
        f"torch.{_name}.view_values",
        f"torch.{_name}({{0}}{{code}}, dim={{dim}}).values",
        dtypes=REAL,
        rank=(1, 4),
        exact=True,
        grad=False,
        name_hint="bound",
    )
    def running(draw: Draw, out: Spec, _name: str = _name) -> Needs:
        """The running maximum or minimum along one axis of a view."""
        return _sorted(draw, out, f"torch.{_name}({{0}}{{code}}, dim={{dim}}).values", Spec.free, indices=False)
