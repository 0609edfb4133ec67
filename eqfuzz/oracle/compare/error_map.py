"""Where in a leaf two values differ, and by how much: a coarse grid and a histogram of bounded size."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # records of findings are read without torch
    import torch

MOST_ROWS = 24
MOST_COLUMNS = 48

RATIOS = (1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3, 1e4)
"""Powers of ten, the upper ends of the histogram's bins but for the last two: larger errors, and no finite ones."""

_DIGITS = "0123456789"


@dataclasses.dataclass(frozen=True)
class ErrorMap:
    """The elements of a leaf by their error.

    Attributes:
        shape: The shape of the leaf.
        grid: Blocks of the leaf as a matrix, whose columns are its last dimension, one digit for each: the share of
            wrong elements in ninths, rounded up.
        ratios: Number of elements by error over allowed error, in the bins of ``RATIOS``; empty where equality is
            required of all elements.
    """

    shape: tuple[int, ...]
    grid: tuple[str, ...]
    ratios: tuple[int, ...] = ()

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> ErrorMap:
        """Raises KeyError or TypeError where ``data`` is none."""
        return cls(tuple(data["shape"]), tuple(data["grid"]), tuple(data.get("ratios", ())))

    @property
    def matrix(self) -> tuple[int, int]:
        """Rows and columns of the leaf as a matrix."""
        columns = self.shape[-1] if self.shape else 1
        return math.prod(self.shape[:-1]), columns

    @property
    def is_bounded(self) -> bool:
        """Whether it is as small as one that ``error_map`` makes, and of digits."""
        widths = {len(row) for row in self.grid}
        return (
            len(self.shape) <= 64
            and len(self.grid) <= MOST_ROWS
            and widths <= set(range(1, MOST_COLUMNS + 1))
            and len(widths) <= 1
            and set("".join(self.grid)) <= set(_DIGITS)
            and len(self.ratios) in (0, len(RATIOS) + 2)
            and min((*self.shape, *self.ratios), default=0) >= 0
        )


def error_map(wrong: torch.Tensor, distance: torch.Tensor, allowed: torch.Tensor) -> ErrorMap | None:
    """The map of a leaf by what is ``wrong``, the ``distance`` and the ``allowed`` one of each element.

    None where a map says no more than the worst element: for fewer than two elements.
    """
    if wrong.numel() < 2:
        return None
    shape = tuple(wrong.shape)
    rows, columns = ErrorMap(shape, ()).matrix
    height, width = min(rows, MOST_ROWS), min(columns, MOST_COLUMNS)
    flat = wrong.reshape(-1).nonzero().reshape(-1)
    blocks = (flat // columns * height // rows) * width + flat % columns * width // columns
    counts = blocks.bincount(minlength=height * width).tolist()
    sizes = [_size(i, height, rows) * _size(j, width, columns) for i in range(height) for j in range(width)]
    digits = [_DIGITS[math.ceil(9 * count / size)] for count, size in zip(counts, sizes, strict=True)]
    grid = tuple("".join(digits[i * width : (i + 1) * width]) for i in range(height))
    return ErrorMap(shape, grid, _ratios(distance, allowed))


def _size(block: int, blocks: int, elements: int) -> int:
    """How many of ``elements`` fall into ``block`` where the element ``n`` is in block ``n * blocks // elements``."""
    return -(-(block + 1) * elements // blocks) - -(-block * elements // blocks)


def _ratios(distance: torch.Tensor, allowed: torch.Tensor) -> tuple[int, ...]:
    if not bool((allowed > 0).any()):
        return ()
    is_finite = distance.isfinite().reshape(-1)
    # Where equality is required, no error is 0 and any other one infinitely too large.
    ratio = (distance / allowed).reshape(-1).masked_fill((distance == 0).reshape(-1), 0.0)
    first, last = round(math.log10(RATIOS[0])), round(math.log10(RATIOS[-1]))
    bins = ratio[is_finite].log10().ceil().clamp(first, last + 1).long() - first
    counts = bins.bincount(minlength=len(RATIOS) + 1).tolist()
    return (*counts, ratio.numel() - len(bins))
