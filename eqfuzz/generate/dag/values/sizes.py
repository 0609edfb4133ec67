"""Input sizes of operators that only move elements: regrouped, shrunk, with other axes."""

from __future__ import annotations

from collections.abc import Sequence

from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.spec import Dim, Spec, UnsatisfiableSpec

MOST = 8192
"""Maximal elements of an input."""


def listed_sizes(numbers: Sequence[object]) -> str:
    return ", ".join(str(n) for n in numbers)


def small(spec: Spec) -> Spec:
    """``spec``. Raises UnsatisfiableSpec where it has too many elements or dimensions."""
    if spec.numel > MOST or spec.rank > 6:
        raise UnsatisfiableSpec("too large")
    return spec


def with_axis(size: Sequence[int], axis: int, *n: int) -> tuple[int, ...]:
    """``size`` with the sizes ``n`` in place of that of ``axis``."""
    return (*size[:axis], *n, *size[axis + 1 :])


def times(a: int, b: int) -> int:
    """The product; of a changing size only with 1. Raises UnsatisfiableSpec."""
    if a == 1:
        return b
    return a if b == 1 else a * b


def factors(draw: Draw, n: int) -> tuple[int, int]:
    """Two random sizes whose product is ``n``."""
    if isinstance(n, Dim) or n == 0:
        return draw.choice(((n, 1), (1, n)))
    first = draw.choice([k for k in range(1, n + 1) if n % k == 0])
    return first, n // first


def regrouped(draw: Draw, size: Sequence[int]) -> tuple[int, ...]:
    """A random size with as many elements."""
    now = list(size)
    for _ in range(draw.choice((1, 1, 2, 3))):
        kind = draw.choice(("merge", "split", "swap", "one", "none"))
        if kind == "merge" and len(now) > 1:
            axis = draw.integer(0, len(now) - 2)
            pair = now[axis : axis + 2]
            if 1 in pair or not any(isinstance(n, Dim) for n in pair):
                now[axis : axis + 2] = [times(*pair)]
        elif kind == "split" and now and len(now) < 5:
            axis = draw.integer(0, len(now) - 1)
            now[axis : axis + 1] = factors(draw, now[axis])
        elif kind == "swap" and len(now) > 1:
            axis = draw.integer(0, len(now) - 2)
            now[axis], now[axis + 1] = now[axis + 1], now[axis]
        elif kind == "one" and len(now) < 5:
            now.insert(draw.integer(0, len(now)), 1)
        elif kind == "none" and 1 in now:
            now.remove(1)
    return tuple(now)


def size_argument(draw: Draw, size: tuple[int, ...], input_size: tuple[int, ...]) -> str:
    """``size`` as an argument, at times with -1, or sizes read from the input, of ``input_size``."""
    if not size:
        return "()"
    arguments: list[object] = list(size)
    axis = draw.integer(0, len(size) - 1)
    if draw.chance(0.4) and all(n > 0 for i, n in enumerate(size) if i != axis):
        arguments[axis] = -1
    for i, n in enumerate(size):
        if isinstance(n, Dim) and n in input_size and arguments[i] != -1 and draw.chance(0.3):
            arguments[i] = f"{{0}}.shape[{input_size.index(n)}]"
    return f"({listed_sizes(arguments)},)" if draw.chance(0.6) else listed_sizes(arguments)


def axis_of_one(draw: Draw, out: Spec) -> int:
    """A random axis of size 1. Raises UnsatisfiableSpec where there is none."""
    return draw.choice([i for i, n in enumerate(out.shape) if n == 1])


def shrunk(draw: Draw, out: Spec) -> tuple[int, ...]:
    """A random size that expands to that of ``out``, at times without its first axes."""
    size = tuple(1 if draw.chance(0.45) else n for n in out.shape)
    return size[draw.integer(0, out.rank) :] if draw.chance(0.3) else size
