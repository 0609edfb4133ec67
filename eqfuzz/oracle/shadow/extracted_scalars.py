"""The Python floats that a program took out of rounded tensors, and how far rounding could have moved each."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch

from eqfuzz.oracle.shadow.shadow_operation import has_python_float
from eqfuzz.oracle.shadow.tracked_float import TrackedFloat


class ExtractedFloats:
    """Floats by their value, each with its value in every row of the shadow (row 0 clean).

    A float keeps its rows only while it is a ``TrackedFloat``; where it came back as a plain one, any of these may be
    its origin, so ``spread``, the largest relative distance among all, is what is known of it. ``steer`` gets a reason
    when rounding could turn a decision made on one.
    """

    def __init__(self, steer: Callable[[str], None]) -> None:
        self.spread = 0.0
        self._rows: dict[float, torch.Tensor] = {}
        self._steer = steer

    def take(self, real: float, values: Sequence[Any]) -> None:
        """``real`` left torch; ``values`` are what it is in every row."""
        rows = torch.tensor(values, dtype=torch.float64)
        self._rows[real] = rows
        spread = float((rows[1:] - rows[0]).abs().max()) / max(abs(float(rows[0])), torch.finfo(torch.float64).tiny)
        self.spread = max(self.spread, spread if math.isfinite(spread) else 1.0)

    def rows(self, number: float) -> torch.Tensor | None:
        """The rows of a float that was taken, as float64 of shape (rows,)."""
        return self._rows.get(number)

    def spread_among(self, arguments: Any) -> float:
        """The relative spread of what is computed with ``arguments``, for the Python floats among them."""
        return self.spread if has_python_float(arguments) else 0.0

    def measured(self, number: Any) -> Any:
        """``number`` with its rows, if it is a float that was taken."""
        rows = self.rows(number) if isinstance(number, float) else None
        return number if rows is None else TrackedFloat(number, rows.tolist(), self._steer)
