"""Multi-armed bandit over sources, families of rules and compile configurations: Thompson sampling, reward per cost."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence

from eqfuzz.campaign.feedback.novelty import ArmKey, ArmResult
from eqfuzz.campaign.store.records import Arm

DISCOUNT = 0.97
"""Factor on earlier rewards and costs after each epoch: what was new has been reached, so rewards fall."""


class Bandit:
    """Rewards and costs of arms by dimension. The prior of every arm is one success at its usual cost."""

    def __init__(self, arms: Iterable[Arm] = ()) -> None:
        self._arms = {(arm.dimension, arm.name): arm for arm in arms}

    @property
    def arms(self) -> tuple[Arm, ...]:
        """In order of dimension and name."""
        return tuple(self._arms[key] for key in sorted(self._arms))

    def choose(self, dimension: str, names: Sequence[str], rng: random.Random) -> str:
        """One of ``names``, arms with more reward per cost more often. Raises ValueError for no names."""
        return self.rank(dimension, names, rng)[0]

    def rank(
        self, dimension: str, names: Sequence[str], rng: random.Random, costs: Mapping[str, float] | None = None
    ) -> list[str]:
        """``names`` by drawn reward per cost, the highest first. Raises ValueError for no names.

        The reward per cost of an arm is drawn from the Gamma distribution that its results leave of the prior
        (Chapelle & Li 2011 on Thompson sampling). ``costs`` are the usual ones, in averages; 1 where there is none.
        """
        if not names:
            raise ValueError(f"nothing to choose from in {dimension}")

        def draw(name: str) -> float:
            arm = self._arms.get((dimension, name), Arm(dimension, name, 0.0, 0.0, 0))
            usual = costs.get(name, 1.0) if costs is not None else 1.0
            return rng.gammavariate(1 + arm.reward, 1 / (usual + arm.cost))

        drawn = {name: draw(name) for name in names}
        return sorted(names, key=lambda name: drawn[name], reverse=True)

    def updated(self, results: Mapping[ArmKey, ArmResult]) -> Bandit:
        """The bandit after an epoch with these results."""
        arms = {
            key: Arm(arm.dimension, arm.name, arm.reward * DISCOUNT, arm.cost * DISCOUNT, arm.pulls)
            for key, arm in self._arms.items()
        }
        for (dimension, name), result in results.items():
            old = arms.get((dimension, name), Arm(dimension, name, 0.0, 0.0, 0))
            arms[dimension, name] = Arm(
                dimension, name, old.reward + result.reward, old.cost + result.cost, old.pulls + result.pulls
            )
        return Bandit(arms.values())
