"""What a program makes of its inputs before it calls an operator on them: views, copies, smaller numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch

from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.input_code import layout_code, literal

Size = tuple[int, ...]

_MOST_STEPS = 2
_SCALED = 0.2


def drawn_view(draw: Draw, size: Size, dtype: torch.dtype) -> tuple[Size, str]:
    """The size of an input, and the method calls that make a tensor of ``size`` of it: one or two, or none for rank 0.

    Elements keep their values, or come closer to zero along the last dimension, so that few domains are left.
    """
    code = ""
    if size and 0 not in size and dtype.is_floating_point and draw.chance(_SCALED):
        code = f".mul(torch.linspace(0.5, 1, {size[-1]}, dtype={dtype}))"
    for _ in range(draw.integer(1, _MOST_STEPS)):
        fitting = {step: weight for step, (weight, least) in _STEPS.items() if len(size) >= least}
        if not fitting or 0 in size:
            break
        size, step = draw.weighted(fitting)(draw, size)
        code = f"{step}{code}"
    return size, code


def _permuted(draw: Draw, size: Size) -> tuple[Size, str]:
    order = draw.rng.sample(range(len(size)), len(size))
    base = [0] * len(size)
    for position, axis in enumerate(order):
        base[axis] = size[position]
    return tuple(base), f".permute({literal(tuple(order))})"


def _transposed(draw: Draw, size: Size) -> tuple[Size, str]:
    return layout_code(draw, size, "transposed")


def _flipped(draw: Draw, size: Size) -> tuple[Size, str]:
    return size, f".flip({draw.integer(0, len(size) - 1)})"


def _rolled(draw: Draw, size: Size) -> tuple[Size, str]:
    return size, f".roll({draw.choice((1, -1, 2))}, {draw.integer(-1, len(size) - 1)})"


def _every_second(draw: Draw, size: Size) -> tuple[Size, str]:
    return layout_code(draw, size, "strided")


def _without_first(draw: Draw, size: Size) -> tuple[Size, str]:
    return layout_code(draw, size, "offset")


def _from_the_end(draw: Draw, size: Size) -> tuple[Size, str]:
    return (*size[:-1], size[-1] + draw.integer(1, 3)), f"[..., -{size[-1]}:]"


def _reshaped(draw: Draw, size: Size) -> tuple[Size, str]:
    axis = draw.integer(0, len(size) - 2)
    merged = (*size[:axis], size[axis] * size[axis + 1], *size[axis + 2 :])
    return merged, draw.choice((f".reshape({literal(size)})", f".unflatten({axis}, {size[axis : axis + 2]})"))


def _squeezed(draw: Draw, size: Size) -> tuple[Size, str]:
    axis = draw.integer(0, len(size))
    return (*size[:axis], 1, *size[axis:]), f".squeeze({axis})"


def _expanded(draw: Draw, size: Size) -> tuple[Size, str]:
    return layout_code(draw, size, "expanded")


def _part(draw: Draw, size: Size) -> tuple[Size, str]:
    axis = draw.integer(0, len(size) - 1)
    twice = tuple(2 * n if i == axis else n for i, n in enumerate(size))
    return twice, f".chunk(2, {axis})[{draw.integer(0, 1)}]"


def _copied(draw: Draw, size: Size) -> tuple[Size, str]:
    return size, draw.choice((".clone()", ".contiguous()"))


_STEPS: Mapping[Callable[[Draw, Size], tuple[Size, str]], tuple[float, int]] = {
    _permuted: (4.0, 2),
    _transposed: (2.0, 2),
    _flipped: (2.0, 1),
    _rolled: (0.5, 1),
    _every_second: (1.0, 1),
    _without_first: (1.0, 1),
    _from_the_end: (1.0, 1),
    _reshaped: (1.0, 2),
    _squeezed: (0.5, 1),
    _expanded: (1.0, 1),
    _part: (1.0, 1),
    _copied: (1.0, 1),
}
"""Weight of each step, and the smallest rank for which there is one."""
