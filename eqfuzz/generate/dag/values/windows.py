"""Sliding windows over the last dimensions, as convolutions and pooling use them to give a result of some size."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.spec import Dim, Spec, UnsatisfiableSpec, most

MOST_READ = 30_000
"""Maximal elements of an input that a window slides over."""


@dataclasses.dataclass(frozen=True)
class Window:
    """A window, with one number per dimension; ``input_size`` is the size that it slides over."""

    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    input_size: tuple[int, ...]
    output_padding: tuple[int, ...] = ()

    @property
    def count(self) -> int:
        """The number of elements in one window."""
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
    """A random window whose result has ``size``; where that changes between calls, so has the input.

    ``dilates``: it may be dilated. ``pools``: every window contains an element that is not padding, as pooling
    requires. ``ceil``: the last window may extend beyond the input, as with ``ceil_mode=True``. ``padded`` and
    ``strided`` are the probabilities of padding and of a stride. Raises UnsatisfiableSpec.
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
        read = (n - 1) * stride + reach - 2 * padding - spare
        if read < 1 or n < 1:
            raise UnsatisfiableSpec("too small for the window")
        axes.append((kernel, stride, padding, dilation, read))
    columns = [tuple(column) for column in zip(*axes, strict=True)]
    return Window(columns[0], columns[1], columns[2], columns[3], columns[4])


def transposed(draw: Draw, size: Sequence[int]) -> Window:
    """A random window of a transposed convolution whose result has ``size``. Raises UnsatisfiableSpec."""
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
    """Kernel, stride, padding and dilation; the padding is at most half the kernel, as pooling requires."""
    kernel = draw.choice((1, 2, 2, 3, 3, 3, 4, 5))
    stride = draw.choice((1, 1, 2, 2, 3)) if draw.chance(strided) else 1
    padding = draw.integer(0, kernel // 2) if draw.chance(padded) else 0
    dilation = 2 if draw.chance(0.2) else 1
    return kernel, stride, padding, dilation


def one_or_all(draw: Draw, numbers: tuple[int, ...]) -> int | tuple[int, ...]:
    """``numbers`` as an argument: at times a single number where all are equal."""
    return numbers[0] if len(set(numbers)) == 1 and draw.chance(0.75) else numbers


def options(draw: Draw, window: Window, *names: str) -> str:
    """Keyword arguments, each after a comma, for those fields of ``window`` in ``names`` that are not the default."""
    text = ""
    for name in names:
        numbers = getattr(window, name)
        default = 0 if name.endswith("padding") else 1
        if any(number != default for number in numbers):
            text += f", {name}={one_or_all(draw, numbers)}"
    return text


def readable(spec: Spec) -> Spec:
    """``spec``. Raises UnsatisfiableSpec where it has no elements, or more than MOST_READ."""
    if not 0 < spec.numel <= MOST_READ:
        raise UnsatisfiableSpec("empty or large")
    return spec


def static(number: int) -> int:
    """``number``. Raises UnsatisfiableSpec for a size that changes, and for 0."""
    if isinstance(number, Dim) or number == 0:
        raise UnsatisfiableSpec("a size that changes, or 0")
    return number


def divisor(draw: Draw, number: int, most: int = 64) -> int:
    """A random divisor of ``number``, at most ``most``; 1 for a size that changes."""
    if isinstance(number, Dim):
        return 1
    return draw.choice([n for n in range(1, min(number, most) + 1) if number % n == 0])


def greatest(size: Sequence[int]) -> int:
    """The largest number of elements of ``size`` in all input sets."""
    return math.prod(most(n) for n in size)
