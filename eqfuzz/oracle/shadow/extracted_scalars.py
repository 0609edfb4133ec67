"""Python floats extracted from rounded tensors, with the relative error that rounding gives each."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch

from eqfuzz.oracle.shadow.tracked_float import TrackedFloat
from eqfuzz.torch_internals.trees import tree_leaves


class ExtractedFloats:
    """Floats by their value, each with its value in every row of the shadow (row 0 clean).

    A float keeps its rows only while it is a ``TrackedFloat``. Where it returns to torch as a plain float, any of these
    may be its origin, so only ``relative_error``, the largest of all, is known of it. ``on_data_dependence`` is called
    with a reason where rounding could change a decision that depends on one.
    """

    def __init__(self, on_data_dependence: Callable[[str], None]) -> None:
        self.relative_error = 0.0
        self._rows: dict[float, torch.Tensor] = {}
        self._on_data_dependence = on_data_dependence

    def add(self, real: float, values: Sequence[Any]) -> None:
        """Record that ``real`` left torch; ``values`` are its values in every row."""
        rows = torch.tensor(values, dtype=torch.float64)
        self._rows[real] = rows
        largest = float((rows[1:] - rows[0]).abs().max())
        error = largest / max(abs(float(rows[0])), torch.finfo(torch.float64).tiny)
        self.relative_error = max(self.relative_error, error if math.isfinite(error) else 1.0)

    def rows(self, number: float) -> torch.Tensor | None:
        """The rows of an extracted float, as float64 of shape (rows,); None for any other."""
        return self._rows.get(number)

    def relative_error_among(self, arguments: Any) -> float:
        """The relative error of a result of ``arguments``, due to Python floats among them."""
        return self.relative_error if any(isinstance(leaf, float) for leaf in tree_leaves(arguments)) else 0.0

    def tracked(self, number: Any) -> Any:
        """``number`` with its rows if it is an extracted float, else as it is."""
        rows = self.rows(number) if isinstance(number, float) else None
        return number if rows is None else TrackedFloat(number, rows.tolist(), self._on_data_dependence)
