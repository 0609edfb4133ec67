"""Exactness: how closely the two sides of a rule agree."""

from __future__ import annotations

from enum import StrEnum


class Exactness(StrEnum):
    """How closely both sides of a rule agree."""

    BITWISE = "bitwise"
    ULP = "ulp"
    REAL = "real"

    def compose(self, other: Exactness) -> Exactness:
        """The class of one rewrite after another: the weaker of the two."""
        order = list(Exactness)
        return max(self, other, key=order.index)
