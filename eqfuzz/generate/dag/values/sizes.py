"""Sizes as operators that only move elements change them: regrouped, shrunk, with other axes."""

from __future__ import annotations

from collections.abc import Sequence

from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.spec import Dim, Spec, UnsatisfiableSpec

MOST = 8192
"""Elements that an input may have."""


def listed_sizes(numbers: Sequence[object]) -> str:
    return ", ".join(str(n) for n in numbers)


def small(spec: Spec) -> Spec:
    """The spec. Raises Unfit where it has too many elements, or dimensions."""
    if spec.numel > MOST or spec.rank > 6:
        raise UnsatisfiableSpec("too large")
    return spec


def with_axis(size: Sequence[int], axis: int, *n: int) -> tuple[int, ...]:
    """``size`` with other sizes in place of that of one axis."""
    return (*size[:axis], *n, *size[axis + 1 :])


def times(a: int, b: int) -> int:
    """The product; of sizes that change, only where the other is 1."""
    if a == 1:
        return b
    return a if b == 1 else a * b


def factors(draw: Draw, n: int) -> tuple[int, int]:
    """Two sizes with this product."""
    if isinstance(n, Dim) or n == 0:
        return draw.choice(((n, 1), (1, n)))
    first = draw.choice([k for k in range(1, n + 1) if n % k == 0])
    return first, n // first


def regrouped(draw: Draw, size: Sequence[int]) -> tuple[int, ...]:
    """Another size with as many elements."""
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


def size_argument(draw: Draw, size: tuple[int, ...], given: tuple[int, ...]) -> str:
    """A size as an argument: with names, sizes of the input, or -1 in place of one of them."""
    if not size:
        return "()"
    written: list[object] = list(size)
    axis = draw.integer(0, len(size) - 1)
    if draw.chance(0.4) and all(n > 0 for i, n in enumerate(size) if i != axis):
        written[axis] = -1
    for i, n in enumerate(size):
        if isinstance(n, Dim) and n in given and written[i] != -1 and draw.chance(0.3):
            written[i] = f"{{0}}.shape[{given.index(n)}]"
    return f"({listed_sizes(written)},)" if draw.chance(0.6) else listed_sizes(written)


def axis_of_one(draw: Draw, out: Spec) -> int:
    return draw.choice([i for i, n in enumerate(out.shape) if n == 1])


def shrunk(draw: Draw, out: Spec) -> tuple[int, ...]:
    """A size that expands to that asked for, without its first axes at times."""
    size = tuple(1 if draw.chance(0.45) else n for n in out.shape)
    return size[draw.integer(0, out.rank) :] if draw.chance(0.3) else size
