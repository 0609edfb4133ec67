"""What a campaign has learnt up to its last settled epoch, as the store has it and the next plan needs it."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Sequence

from eqfuzz.campaign.configuration import Configuration
from eqfuzz.campaign.engine.plan import Symptom, plan
from eqfuzz.campaign.feedback.bandit import Bandit
from eqfuzz.campaign.feedback.novelty import ReachedFeatures, earned, entries
from eqfuzz.campaign.metrics import point_after
from eqfuzz.campaign.sources.files import CorpusSeeds, DrawHistory, SeedSource
from eqfuzz.campaign.store.records import Campaign, CorpusEntry, EpochResult, Item, Json
from eqfuzz.campaign.store.store import Store
from eqfuzz.events.campaign import EpochSettled

AHEAD = 2
"""Epochs that are planned before the first of them is settled, so that nobody waits for the slowest seed."""


@dataclasses.dataclass
class CampaignKnowledge:
    """``planned`` and ``settled`` count epochs. Built from the store alone, so every process learns the same.

    An epoch is planned when the one but one before it is settled, never later, so that its plan does not depend on
    which worker was faster.
    """

    planned: int
    settled: int
    known: ReachedFeatures
    bandit: Bandit
    corpus: list[CorpusEntry]
    times: Counter[str]
    invalid: set[str]
    met: dict[str, set[Symptom]]
    last_point: Json | None

    @classmethod
    def read(cls, store: Store, name: str) -> CampaignKnowledge:
        """As the store has it. Raises StoreError."""
        campaign = store.campaign(name)
        assert campaign is not None
        kept = store.findings(campaign.id)
        before = {finding.bucket for finding in kept if finding.epoch <= campaign.settled and not finding.issue}
        curve = store.curve(campaign.id)
        return cls(
            planned=campaign.planned,
            settled=campaign.settled,
            known=ReachedFeatures(store.features(campaign.id), store.lines(campaign.id), before),
            bandit=Bandit(store.arms(campaign.id)),
            corpus=store.corpus(campaign.id),
            times=Counter(store.items.draws(campaign.id)),
            invalid=store.items.invalid(campaign.id, campaign.settled),
            met=store.items.shown(campaign.id, campaign.settled),
            last_point=curve[-1] if curve else None,
        )

    def may_plan(self) -> bool:
        return self.planned < self.settled + AHEAD

    def next_items(
        self,
        configuration: Configuration,
        sources: Sequence[SeedSource],
        families: Sequence[str],
        configs: Sequence[str],
        store: Store,
    ) -> list[Item]:
        """The items of the epoch after the last planned one. Raises NothingToDo and StoreError."""
        own = list(sources)
        if configuration.feedback.enabled and self.corpus:
            own.append(CorpusSeeds(self.corpus, store.program))
        drawn = DrawHistory(self.times, frozenset(self.invalid))
        keep: Callable[[str], str] = store.put_program
        return plan(configuration, self.planned + 1, own, families, configs, self.bandit, drawn, keep, self.met)

    def take_plan(self, items: Sequence[Item]) -> None:
        """After the items were stored as an epoch."""
        self.planned += 1
        self.times.update(item.name for item in items)

    def settle(
        self,
        store: Store,
        campaign: Campaign,
        configuration: Configuration,
        outcomes: Sequence[tuple[Item, Json]],
        seconds: float,
    ) -> tuple[EpochResult, EpochSettled]:
        """What the next epoch, which is done, teaches; from then on this is what is known."""
        epoch = self.settled + 1
        told = [outcome for _, outcome in outcomes]
        yields = [self.known.take(item, outcome, configuration.feedback.cost) for item, outcome in outcomes]
        in_corpus = {entry.program for entry in self.corpus}
        kept: list[CorpusEntry] = []
        first: dict[int, int] = {}
        for one, outcome in zip(yields, told, strict=True):
            digests = {0: one.item.program} | {int(v): digest for v, digest in outcome["texts"].items() if int(v)}
            for entry in entries(one, outcome, digests):
                if entry.program not in in_corpus:
                    in_corpus.add(entry.program)
                    kept.append(entry)
            first |= {feature: one.item.number for features in one.features.values() for feature in features}
        self.bandit = self.bandit.learnt(earned(yields, told))
        self.corpus += kept
        self.invalid |= {item.name for item, outcome in outcomes if outcome["state"] in ("invalid", "lost")}
        for item, outcome in outcomes:
            if outcome["shown"]:
                self.met.setdefault(item.program, set()).update(map(tuple, outcome["shown"]))
        self.settled = epoch
        lines = sum(one.lines for one in yields)
        added = {
            "epoch": epoch,
            "features": len(self.known.features),
            "lines": self.known.line_count(),
            "kept": len(self.corpus),
            "seconds": round(seconds, 3),
        }
        self.last_point = point_after(self.last_point, told, added)
        settlement = EpochResult(first, tuple(kept), self.bandit.arms, self.known.bitmaps(), self.last_point)
        told_buckets = sum(one.buckets for one in yields)
        event = EpochSettled(epoch, len(first), lines, told_buckets, len(kept), dict(self.last_point), self.yields())
        return settlement, event

    def yields(self) -> dict[str, dict[str, float]]:
        """Successes per average cost of each arm, by dimension."""
        found: dict[str, dict[str, float]] = {}
        for arm in self.bandit.arms:
            found.setdefault(arm.dimension, {})[arm.name] = round(arm.reward / arm.cost, 3) if arm.cost else 0.0
        return found
