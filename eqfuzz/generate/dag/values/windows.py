"""Windows that slide over the last dimensions: what convolutions and pooling read to give a result of some size."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.spec import Dim, Spec, UnsatisfiableSpec, most

MOST_READ = 30_000
"""Elements of an input up to which a window is taken."""


@dataclasses.dataclass(frozen=True)
class Window:
    """One number for each dimension; ``given`` is the size that it slides over, ``over`` the output padding."""

    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    given: tuple[int, ...]
    over: tuple[int, ...] = ()

    @property
    def count(self) -> int:
        """Elements in one window."""
        return math.prod(self.kernel)


def window(
    draw: Draw,
    size: Sequence[int],
    *,
    dilates: bool = True,
    pools: bool = False,
    ceil: bool = False,
    padded: float = 0.6,
    strided: float = 1,
) -> Window:
    """A window that gives a result of ``size``; of an input of the same size where that changes between calls.

    ``pools``: every window holds an element that is not padding, as pooling wants it. ``ceil``: the last window may
    reach over the end, as with ``ceil_mode=True``. ``padded`` and ``strided`` are the chances of padding and of a
    stride. Raises Unfit where there is none.
    """
    alike = draw.chance(0.6)
    keeps = any(isinstance(n, Dim) for n in size)
    axes: list[tuple[int, int, int, int, int]] = []
    for n in size:
        if not alike or not axes:
            kernel, stride, padding, dilation = _drawn(draw, padded, strided)
            if not dilates or (pools and (padding or keeps)):
                dilation = 1
        else:
            kernel, stride, padding, dilation = axes[0][:4]
        if isinstance(n, Dim) or (alike and keeps):
            kernel, stride = draw.choice((1, 3, 3)) if not (alike and axes) else kernel, 1
            axes.append((kernel, 1, dilation * (kernel - 1) // 2, dilation, n))
            continue
        reach = dilation * (kernel - 1) + 1
        spare = draw.integer(0, min(stride, reach - padding) - 1) if ceil else -draw.integer(0, stride - 1)
        given = (n - 1) * stride + reach - 2 * padding - spare
        if given < 1 or n < 1:
            raise UnsatisfiableSpec("too small for the window")
        axes.append((kernel, stride, padding, dilation, given))
    columns = [tuple(column) for column in zip(*axes, strict=True)]
    return Window(columns[0], columns[1], columns[2], columns[3], columns[4])


def transposed(draw: Draw, size: Sequence[int]) -> Window:
    """A window of a transposed convolution that gives ``size``. Raises Unfit where there is none."""
    axes: list[tuple[int, int, int, int, int, int]] = []
    for n in size:
        kernel, stride, padding, dilation = _drawn(draw, 0.5, 1)
        if isinstance(n, Dim):
            kernel = draw.choice((1, 3))
            axes.append((kernel, 1, dilation * (kernel - 1) // 2, dilation, n, 0))
            continue
        rest = n - 1 + 2 * padding - dilation * (kernel - 1)
        if rest < 0:
            kernel, padding, rest = 1, 0, n - 1
        if rest < 0:
            raise UnsatisfiableSpec("empty")
        axes.append((kernel, stride, padding, dilation, rest // stride + 1, rest % stride))
    columns = [tuple(column) for column in zip(*axes, strict=True)]
    return Window(columns[0], columns[1], columns[2], columns[3], columns[4], columns[5])


def _drawn(draw: Draw, padded: float, strided: float) -> tuple[int, int, int, int]:
    """Kernel, stride, padding and dilation; the padding is at most half the kernel, as pooling wants it."""
    kernel = draw.choice((1, 2, 2, 3, 3, 3, 4, 5))
    stride = draw.choice((1, 1, 2, 2, 3)) if draw.chance(strided) else 1
    padding = draw.integer(0, kernel // 2) if draw.chance(padded) else 0
    dilation = 2 if draw.chance(0.2) else 1
    return kernel, stride, padding, dilation


def one_or_all(draw: Draw, numbers: tuple[int, ...]) -> int | tuple[int, ...]:
    """A number for each dimension as it may be written: one for all of them where they are equal."""
    return numbers[0] if len(set(numbers)) == 1 and draw.chance(0.75) else numbers


def options(draw: Draw, window: Window, *names: str) -> str:
    """Keywords for what differs from the default; ``names`` are fields of `Window`, "over" being output_padding."""
    text = ""
    for name in names:
        numbers = getattr(window, name)
        plain = 0 if name in ("padding", "over") else 1
        if any(number != plain for number in numbers):
            text += f", {'output_padding' if name == 'over' else name}={one_or_all(draw, numbers)}"
    return text


def readable(spec: Spec) -> Spec:
    """The same. Raises Unfit where it is empty or large."""
    if not 0 < spec.numel <= MOST_READ:
        raise UnsatisfiableSpec("empty or large")
    return spec


def static(number: int) -> int:
    """The same. Raises Unfit for a size that changes, or is 0."""
    if isinstance(number, Dim) or number == 0:
        raise UnsatisfiableSpec("a size that changes, or 0")
    return number


def divisor(draw: Draw, number: int, most: int = 64) -> int:
    """A number that divides this one; 1 where it changes between calls."""
    if isinstance(number, Dim):
        return 1
    return draw.choice([n for n in range(1, min(number, most) + 1) if number % n == 0])


def greatest(size: Sequence[int]) -> int:
    """Elements of this size at most: at those sizes of any input set."""
    return math.prod(most(n) for n in size)
