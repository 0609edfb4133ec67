"""What is cut down by reductions: the size that something is left of, and how the cut is written."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

from eqfuzz.generate.dag.catalogue.operator import Needs
from eqfuzz.generate.dag.values.draw import LARGE, Draw
from eqfuzz.generate.dag.values.spec import DIM_MOST, Dim, Range, Spec, most

_ROOM = 4096


def finite(spec: Spec) -> Spec:
    """Of floats, those that can be added up in any order."""
    return spec.within(-1024.0, 1024.0) if spec.is_float else spec


def apart(spec: Spec) -> Spec:
    """Without ties."""
    return dataclasses.replace(spec, distinct=True)


@dataclasses.dataclass(frozen=True)
class ReducedSize:
    """The size of what is reduced, and how that is written: by keywords, and by position."""

    size: tuple[int, ...]
    reduced: tuple[int, ...]
    how: str
    brief: str

    @property
    def count(self) -> int:
        """How many elements become one, at most."""
        return math.prod(most(n) for n in self.reduced)


def cut(
    draw: Draw,
    out: Spec,
    *,
    several: bool = True,
    full: bool = True,
    fewest: int = 1,
    longest: int = 128,
    keep: bool = True,
) -> ReducedSize:
    """A size that ``out`` is left of when dimensions are reduced. Raises Unfit.

    ``several``: more than one dimension at once. ``full``: all of them may go unnamed. ``fewest`` and ``longest`` bound
    the sizes of those reduced, ``keep`` lets them stay with size 1.
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
    written = tuple(draw.spelled(axis, len(size)) for axis in axes)
    dim = str(written[0]) if len(written) == 1 and not (several and draw.chance(0.2)) else str(written)
    tail = ("", "", ", keepdim=False") if not keepdim else (", keepdim=True",)
    return ReducedSize(tuple(size), reduced, f"dim={dim}{draw.choice(tail)}", f"{dim}{', True' * keepdim}")


def spellings(name: str, brief: bool = True) -> tuple[str, ...]:
    """The function and the method ``name`` of what `cut` gives."""
    forms = (f"torch.{name}({{0}}, {{how}})", f"{{0}}.{name}({{how}})")
    return (*forms, f"{{0}}.{name}({{brief}})", f"torch.{name}({{0}}, {{brief}})") if brief else forms


def parts(draw: Draw, forms: Sequence[str], fields: Sequence[str], specs: Sequence[Spec], picked: int) -> Needs:
    """How a result that is one part of a tuple is written: unpacked, or with a field or a number behind the call.

    Gives the part of `Needs` that says so, to be filled in by `completed`.
    """
    if draw.chance(0.5):
        return Needs(outputs=specs, picked=picked, spellings=forms)
    return Needs(spellings=[f"{form}{behind}" for form in forms for behind in (f".{fields[picked]}", f"[{picked}]")])


def completed(needs: Needs, *inputs: Spec, values: Callable[..., Range], **params: Any) -> Needs:
    """``needs`` with inputs, values and parameters."""
    return Needs(
        *inputs, values=values, outputs=needs.outputs, picked=needs.picked, spellings=needs.spellings, **params
    )


def reducing(
    out: Spec, given: ReducedSize, asked: Spec, values: Callable[[Range, int], Range], more: str = ""
) -> Needs:
    """What a reduction of one tensor needs: ``asked`` of the size that was cut, and ``more`` keywords.

    ``values``: the range, of the input's and of how many elements become one.
    """
    how = ", ".join(word for word in (given.how, more) if word)
    brief = ", ".join(word for word in (given.brief, more) if word)
    input_ = dataclasses.replace(asked, size=given.size)
    return Needs(input_, values=lambda x: values(x, given.count), how=how, brief=brief)
