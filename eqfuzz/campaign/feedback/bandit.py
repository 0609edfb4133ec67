"""Which source, family of rules or compile configuration gets the next seed: Thompson sampling on yield per cost."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence

from eqfuzz.campaign.store.records import Arm

DISCOUNT = 0.97
"""What an epoch leaves of what earlier ones taught: what was new has been found, so yields fall."""


class Bandit:
    """What each arm has brought, by dimension. An arm that was never pulled has one success at the average cost."""

    def __init__(self, arms: Iterable[Arm] = ()) -> None:
        self._arms = {(arm.dimension, arm.name): arm for arm in arms}

    @property
    def arms(self) -> tuple[Arm, ...]:
        """In order of dimension and name."""
        return tuple(self._arms[key] for key in sorted(self._arms))

    def choose(self, dimension: str, names: Sequence[str], rng: random.Random) -> str:
        """One of ``names``; those that bring more per cost the more likely. Raises ValueError without any."""
        return self.ranked(dimension, names, rng)[0]

    def ranked(self, dimension: str, names: Sequence[str], rng: random.Random) -> list[str]:
        """``names``, the most promising draw first.

        An arm's successes per cost are drawn from the Gamma distribution that its past leaves of a prior of one success
        at one cost (Chapelle & Li 2011 on Thompson sampling).
        """
        if not names:
            raise ValueError(f"nothing to choose from in {dimension}")

        def draw(name: str) -> float:
            arm = self._arms.get((dimension, name), Arm(dimension, name, 0.0, 0.0, 0))
            return rng.gammavariate(1 + arm.reward, 1 / (1 + arm.cost))

        drawn = {name: draw(name) for name in names}
        return sorted(names, key=lambda name: drawn[name], reverse=True)

    def learnt(self, earned: Mapping[tuple[str, str], tuple[float, float, int]]) -> Bandit:
        """After an epoch in which the arms of ``earned`` brought reward, at a cost, in so many pulls."""
        known = {
            key: Arm(arm.dimension, arm.name, arm.reward * DISCOUNT, arm.cost * DISCOUNT, arm.pulls)
            for key, arm in self._arms.items()
        }
        for (dimension, name), (reward, cost, pulls) in earned.items():
            old = known.get((dimension, name), Arm(dimension, name, 0.0, 0.0, 0))
            known[dimension, name] = Arm(dimension, name, old.reward + reward, old.cost + cost, old.pulls + pulls)
        return Bandit(known.values())
