"""Random choices of a program: one stream, so that a seed gives the same program everywhere."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import TypeVar

from eqfuzz.generate.dag.values.spec import INTEGERS, Dim, Spec, UnsatisfiableSpec

T = TypeVar("T")

SIZES = (1, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17)
LARGE = (31, 32, 33, 63, 64, 65, 127, 128)


class Draw:
    """Draws what an operator's declaration leaves open."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def choice(self, among: Sequence[T]) -> T:
        """One of them. Raises Unfit where there is none."""
        if not among:
            raise UnsatisfiableSpec("nothing to choose from")
        return among[int(self.rng.random() * len(among))]

    def weighted(self, weights: Mapping[T, float]) -> T:
        """One of them, more often the more it weighs. Raises Unfit where nothing weighs anything."""
        if not any(weights.values()):
            raise UnsatisfiableSpec("nothing to choose from")
        return self.rng.choices(list(weights), list(weights.values()))[0]

    def integer(self, low: int, high: int) -> int:
        """A whole number from ``low`` to ``high``, both included. Raises Unfit where there is none."""
        if high < low:
            raise UnsatisfiableSpec("nothing to choose from")
        return low + int(self.rng.random() * (int(high) - low + 1))

    def size(self, most: int = 17) -> int:
        """A size as dimensions have them, 0 excluded."""
        return self.choice([n for n in SIZES if n <= most])

    def axis(self, spec: Spec) -> int:
        """A dimension, counted from the front. Raises Unfit for rank 0."""
        return self.integer(0, spec.rank - 1)

    def axes(self, spec: Spec, least: int = 1) -> tuple[int, ...]:
        """At least ``least`` dimensions, in order. Raises Unfit where there are too few."""
        count = self.integer(least, spec.rank)
        return tuple(sorted(self.rng.sample(range(spec.rank), count)))

    def spelled(self, axis: int, rank: int) -> int:
        """``axis`` as it may be written: from the back at times."""
        return axis - rank if self.chance(0.35) else axis

    def order(self, rank: int) -> tuple[int, ...]:
        """A permutation of the dimensions."""
        order = list(range(rank))
        self.rng.shuffle(order)
        return tuple(order)

    def number(self, spec: Spec, low: float = -4.0, high: float = 4.0) -> float | int:
        """A literal that fits the dtype: whole for integers, of few bits where it has to be exact."""
        low, high = max(low, spec.low), min(high, spec.high)
        if spec.dtype in INTEGERS or spec.dtype == "bool":
            low = max(low, 0) if spec.dtype in ("uint8", "bool") else low
            return self.integer(-int(-low // 1), int(high // 1))
        if spec.exact:
            return self.integer(-int(-low * 2 // 1), int(high * 2 // 1)) / 2
        return round(self.rng.uniform(low, high), self.choice((1, 2)))

    def broadcast(self, spec: Spec) -> Spec:
        """A spec that broadcasts to ``spec``: now and then with dimensions of size 1, or fewer of them."""
        size = spec.shape
        if not size or not self.chance(0.35):
            return spec
        if self.chance(0.5):
            return spec.of(*size[self.integer(1, len(size)) :]).free()
        return spec.of(*(1 if self.chance(0.4) else n for n in size)).free()

    def split(self, total: int, parts: int) -> list[int]:
        """``parts`` sizes of at least 1 that add up to ``total``. Raises Unfit where they cannot."""
        if isinstance(total, Dim) or total < parts:
            raise UnsatisfiableSpec("too small to be split")
        cuts = sorted(self.rng.sample(range(1, total), parts - 1))
        return [b - a for a, b in zip([0, *cuts], [*cuts, total], strict=True)]
