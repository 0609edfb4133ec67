"""Input sizes and arguments of reductions."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

from eqfuzz.generate.dag.catalogue.operator import Needs
from eqfuzz.generate.dag.values.draw import LARGE, Draw
from eqfuzz.generate.dag.values.spec import DIM_MOST, Dim, Range, Spec, most

_ROOM = 4096
"""Maximal elements of an input."""


def summable(spec: Spec) -> Spec:
    """``spec``; floats are bounded so that they can be summed in any order."""
    return spec.within(-1024.0, 1024.0) if spec.is_float else spec


def without_ties(spec: Spec) -> Spec:
    """``spec`` with distinct values."""
    return dataclasses.replace(spec, distinct=True)


@dataclasses.dataclass(frozen=True)
class ReducedSize:
    """The size of an input, the sizes reduced, and the arguments, as keywords (``how``) and positional (``brief``)."""

    size: tuple[int, ...]
    reduced: tuple[int, ...]
    how: str
    brief: str

    @property
    def count(self) -> int:
        """The largest number of elements that become one."""
        return math.prod(most(n) for n in self.reduced)


def draw_reduction(
    draw: Draw,
    out: Spec,
    *,
    several: bool = True,
    full: bool = True,
    fewest: int = 1,
    longest: int = 128,
    keep: bool = True,
) -> ReducedSize:
    """A random reduction of an input to the size of ``out``. Raises UnsatisfiableSpec.

    ``several``: it may reduce more than one dimension. ``full``: it may reduce all of them, without naming any.
    ``fewest`` and ``longest`` bound the sizes reduced; ``keep``: they may be kept with size 1.
    """
    size = list(out.shape)
    ones = [axis for axis, n in enumerate(size) if n == 1]
    unnamed = out.rank == 0 and full and draw.chance(0.5)
    keepdim = False
    if unnamed:
        axes = list(range(draw.integer(0 if fewest == 1 else 1, 4)))
        size = [1] * len(axes)
    elif keep and ones and draw.chance(0.8):
        keepdim = True
        axes = sorted(draw.rng.sample(ones, draw.integer(1, len(ones)) if several else 1))
    else:
        count = min(draw.choice((1, 1, 2, 3)) if several else 1, 5 - out.rank)
        rank = out.rank + draw.integer(1, count)
        axes = sorted(draw.rng.sample(range(rank), rank - out.rank))
        for axis in axes:
            size.insert(axis, 1)
    room = _ROOM // max(1, out.numel)
    for axis in axes:
        dims = [n for n in out.shape if isinstance(n, Dim)]
        if dims and longest >= DIM_MOST and draw.chance(0.2):
            size[axis] = draw.choice(dims)
        else:
            n = draw.choice(LARGE) if draw.chance(0.12) else draw.size()
            size[axis] = max(fewest, min(n, room, longest))
        room //= most(size[axis])
    reduced = tuple(size[axis] for axis in axes)
    if unnamed:
        return ReducedSize(tuple(size), reduced, "", "")
    written = tuple(draw.signed_axis(axis, len(size)) for axis in axes)
    dim = str(written[0]) if len(written) == 1 and not (several and draw.chance(0.2)) else str(written)
    tail = ("", "", ", keepdim=False") if not keepdim else (", keepdim=True",)
    return ReducedSize(tuple(size), reduced, f"dim={dim}{draw.choice(tail)}", f"{dim}{', True' * keepdim}")


def call_forms(name: str, brief: bool = True) -> tuple[str, ...]:
    """The forms of a call of ``name`` with the arguments of a `ReducedSize`: ``how``, and perhaps ``brief``."""
    forms = (f"torch.{name}({{0}}, {{how}})", f"{{0}}.{name}({{how}})")
    return (*forms, f"{{0}}.{name}({{brief}})", f"torch.{name}({{0}}, {{brief}})") if brief else forms


def tuple_result(draw: Draw, forms: Sequence[str], fields: Sequence[str], specs: Sequence[Spec], picked: int) -> Needs:
    """Needs of a call that returns a tuple: unpacked, or with the result selected by field or index.

    ``specs`` and ``fields`` are those of the tuple, ``picked`` the number of the result. `completed` adds the inputs.
    """
    if draw.chance(0.5):
        return Needs(outputs=specs, picked=picked, forms=forms)
    return Needs(forms=[f"{form}{behind}" for form in forms for behind in (f".{fields[picked]}", f"[{picked}]")])


def completed(needs: Needs, *inputs: Spec, values: Callable[..., Range], **params: Any) -> Needs:
    """``needs`` with inputs, range and parameters."""
    return Needs(*inputs, values=values, outputs=needs.outputs, picked=needs.picked, forms=needs.forms, **params)


def reduction_needs(
    out: Spec, reduction: ReducedSize, operand: Spec, values: Callable[[Range, int], Range], more: str = ""
) -> Needs:
    """Needs of a reduction of one tensor, which has the size of ``reduction`` and otherwise meets ``operand``.

    ``more`` are further keyword arguments. ``values`` gives the range of the result, from that of the input and the
    number of elements that become one.
    """
    how = ", ".join(word for word in (reduction.how, more) if word)
    brief = ", ".join(word for word in (reduction.brief, more) if word)
    operand = dataclasses.replace(operand, size=reduction.size)
    return Needs(operand, values=lambda x: values(x, reduction.count), how=how, brief=brief)
