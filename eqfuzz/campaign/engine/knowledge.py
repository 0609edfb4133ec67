"""State of a campaign after its last committed epoch, from which the next epoch is planned."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Sequence

from eqfuzz.campaign.configuration import Configuration
from eqfuzz.campaign.engine.plan import SearchSpace, plan_epoch
from eqfuzz.campaign.feedback.bandit import Bandit
from eqfuzz.campaign.feedback.novelty import ReachedFeatures, add_results, arm_results, reached_by
from eqfuzz.campaign.metrics import next_point
from eqfuzz.campaign.sources.files import CorpusSeeds, DrawHistory
from eqfuzz.campaign.store.outcome import Outcome, Symptom
from eqfuzz.campaign.store.records import CorpusEntry, EpochResult, Item, Json
from eqfuzz.campaign.store.store import Store
from eqfuzz.events.campaign import EpochCommitted

AHEAD = 2
"""Epochs that are planned before the first of them is committed, so that no worker waits for the slowest seed."""


@dataclasses.dataclass
class CampaignState:
    """Built from the store alone, so that every process learns the same.

    An epoch is planned when the last but one before it is committed, never later, so that its plan does not depend on
    scheduling.
    """

    planned: int
    """Number of planned epochs."""
    committed: int
    """Number of committed epochs."""
    reached: ReachedFeatures
    """What committed epochs have reached: features, lines, buckets."""
    bandit: Bandit
    """Rewards and costs of the arms."""
    corpus: list[CorpusEntry]
    """Programs that were the first to reach some feature."""
    draws: Counter[str]
    """How often each seed was planned, by name."""
    invalid: set[str]
    """Names of seeds that are invalid or whose items were lost."""
    symptoms: dict[str, set[Symptom]]
    """Confirmed symptoms of originals by the digest of their text."""
    last_point: Json | None
    """Last point of the campaign's curve; None before the first committed epoch."""

    @classmethod
    def load(cls, store: Store, name: str) -> CampaignState:
        """The state in the store. Raises StoreError."""
        campaign = store.campaign(name)
        assert campaign is not None
        until = campaign.committed
        curve = store.curve(campaign.id)
        return cls(
            planned=campaign.planned,
            committed=until,
            reached=reached_by(store, campaign),
            bandit=Bandit(store.arms(campaign.id)),
            corpus=store.corpus(campaign.id),
            draws=Counter(store.items.draw_counts(campaign.id)),
            invalid=store.items.invalid_seeds(campaign.id, until),
            symptoms=store.items.symptoms(campaign.id, until),
            last_point=curve[-1] if curve else None,
        )

    def may_plan(self) -> bool:
        return self.planned < self.committed + AHEAD

    def plan_next(self, configuration: Configuration, space: SearchSpace, store: Store) -> list[Item]:
        """The items of the epoch after the last planned one. Raises NothingToDo and StoreError."""
        if configuration.feedback.enabled and self.corpus:
            corpus = CorpusSeeds(self.corpus, store.program)
            space = dataclasses.replace(space, sources=(*space.sources, corpus))
        return plan_epoch(
            configuration,
            self.planned + 1,
            space,
            self.bandit,
            DrawHistory(self.draws, frozenset(self.invalid)),
            store.put_program,
            self.symptoms,
            self.reached.buckets,
        )

    def record_plan(self, items: Sequence[Item]) -> None:
        """Add an epoch whose items were stored."""
        self.planned += 1
        self.draws.update(item.name for item in items)

    def learn_epoch(
        self, configuration: Configuration, results: Sequence[tuple[Item, Outcome]], seconds: float
    ) -> tuple[EpochResult, EpochCommitted]:
        """Learn from the next epoch, all of whose items are done; returns what to store and the event.

        ``seconds`` are the campaign's wall seconds so far.
        """
        epoch = self.committed + 1
        outcomes = [outcome for _, outcome in results]
        yields, added = add_results(self.reached, self.corpus, results, configuration.feedback.cost)
        features = {
            feature: one.item.number for one in yields for reached in one.features.values() for feature in reached
        }
        self.bandit = self.bandit.updated(arm_results(yields, outcomes))
        self.corpus += added
        self.invalid |= {item.name for item, outcome in results if outcome.state in ("invalid", "lost")}
        for item, outcome in results:
            if outcome.symptoms:
                self.symptoms.setdefault(item.program, set()).update(outcome.symptoms)
        self.committed = epoch
        figures = {
            "epoch": epoch,
            "features": len(self.reached.features),
            "lines": self.reached.line_count(),
            "kept": len(self.corpus),
            "seconds": round(seconds, 3),
        }
        self.last_point = next_point(self.last_point, outcomes, figures)
        result = EpochResult(features, tuple(added), self.bandit.arms, self.reached.bitmaps(), self.last_point)
        event = EpochCommitted(
            epoch=epoch,
            new_features=len(features),
            new_lines=sum(one.lines for one in yields),
            new_buckets=sum(one.buckets for one in yields),
            kept=len(added),
            point=dict(self.last_point),
            yields=self.rewards_per_cost(),
        )
        return result, event

    def with_pending(
        self, results: Iterable[tuple[Item, Outcome]], cost_unit: str
    ) -> tuple[ReachedFeatures, list[CorpusEntry]]:
        """What is reached with ``results`` of epochs that are not committed, and the corpus with them."""
        reached = self.reached.copy()
        _, added = add_results(reached, self.corpus, results, cost_unit)
        return reached, [*self.corpus, *added]

    def rewards_per_cost(self) -> dict[str, dict[str, float]]:
        """Reward per average cost of each arm, by dimension."""
        ratios: dict[str, dict[str, float]] = {}
        for arm in self.bandit.arms:
            ratios.setdefault(arm.dimension, {})[arm.name] = round(arm.reward / arm.cost, 3) if arm.cost else 0.0
        return ratios
