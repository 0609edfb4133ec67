"""Random choices of a program, all from one generator, so that a seed always gives the same program."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import TypeVar

from eqfuzz.generate.dag.values.spec import INTEGERS, Dim, Spec, UnsatisfiableSpec

T = TypeVar("T")

SIZES = (1, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17)
LARGE = (31, 32, 33, 63, 64, 65, 127, 128)


class Draw:
    """Draws the free choices of an operator's declaration."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def choice(self, among: Sequence[T]) -> T:
        """A random element. Raises UnsatisfiableSpec for an empty sequence."""
        if not among:
            raise UnsatisfiableSpec("nothing to choose from")
        return among[int(self.rng.random() * len(among))]

    def weighted(self, weights: Mapping[T, float]) -> T:
        """A random key, by weight. Raises UnsatisfiableSpec where all weights are 0."""
        if not any(weights.values()):
            raise UnsatisfiableSpec("nothing to choose from")
        return self.rng.choices(list(weights), list(weights.values()))[0]

    def integer(self, low: int, high: int) -> int:
        """An integer from ``low`` to ``high``, both inclusive. Raises UnsatisfiableSpec where there is none."""
        if high < low:
            raise UnsatisfiableSpec("nothing to choose from")
        return low + int(self.rng.random() * (int(high) - low + 1))

    def size(self, most: int = 17) -> int:
        """A size of a dimension, from 1 to ``most``."""
        return self.choice([n for n in SIZES if n <= most])

    def axis(self, spec: Spec) -> int:
        """An axis, not negative. Raises UnsatisfiableSpec for rank 0."""
        return self.integer(0, spec.rank - 1)

    def axes(self, spec: Spec, least: int = 1) -> tuple[int, ...]:
        """At least ``least`` axes, ascending. Raises UnsatisfiableSpec where there are too few."""
        count = self.integer(least, spec.rank)
        return tuple(sorted(self.rng.sample(range(spec.rank), count)))

    def signed_axis(self, axis: int, rank: int) -> int:
        """``axis``, or at times the equivalent negative axis."""
        return axis - rank if self.chance(0.35) else axis

    def order(self, rank: int) -> tuple[int, ...]:
        """A permutation of the axes."""
        order = list(range(rank))
        self.rng.shuffle(order)
        return tuple(order)

    def number(self, spec: Spec, low: float = -4.0, high: float = 4.0) -> float | int:
        """A literal within the bounds and of the dtype; with few bits where ``spec`` is exact."""
        low, high = max(low, spec.low), min(high, spec.high)
        if spec.dtype in INTEGERS or spec.dtype == "bool":
            low = max(low, 0) if spec.dtype in ("uint8", "bool") else low
            return self.integer(-int(-low // 1), int(high // 1))
        if spec.exact:
            return self.integer(-int(-low * 2 // 1), int(high * 2 // 1)) / 2
        return round(self.rng.uniform(low, high), self.choice((1, 2)))

    def broadcast(self, spec: Spec) -> Spec:
        """A spec that broadcasts to ``spec``: itself, or with fewer dimensions or some of size 1."""
        size = spec.shape
        if not size or not self.chance(0.35):
            return spec
        if self.chance(0.5):
            return spec.of(*size[self.integer(1, len(size)) :]).free()
        return spec.of(*(1 if self.chance(0.4) else n for n in size)).free()

    def split(self, total: int, parts: int) -> list[int]:
        """``parts`` sizes of at least 1 whose sum is ``total``. Raises UnsatisfiableSpec where there are none."""
        if isinstance(total, Dim) or total < parts:
            raise UnsatisfiableSpec("too small to be split")
        cuts = sorted(self.rng.sample(range(1, total), parts - 1))
        return [b - a for a, b in zip([0, *cuts], [*cuts, total], strict=True)]
