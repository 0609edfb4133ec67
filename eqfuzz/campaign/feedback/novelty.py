"""Novelty of an epoch: features, lines of the compiler, buckets and programs that were not reached before."""

from __future__ import annotations

import dataclasses
import math
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import NamedTuple

from eqfuzz.campaign.store.outcome import Outcome
from eqfuzz.campaign.store.reader import StoreReader
from eqfuzz.campaign.store.records import Campaign, CorpusEntry, Item

BUCKET_REWARD = 20
"""Reward of the first finding of a bucket, in new features."""

LINE_REWARD = 1 / 80
"""Reward of a new line: a program runs some 24,000 and reaches some 300 features, and only a sample is traced."""

ArmKey = tuple[str, str]
"""Dimension and name of an arm."""


@dataclasses.dataclass(frozen=True)
class Yield:
    """What one item reached first."""

    item: Item
    features: Mapping[int, frozenset[int]]
    """New features by variant; 0 is the seed."""
    lines: int
    """Number of new lines of the compiler."""
    buckets: int
    """Number of new buckets."""
    cost: float
    """CPU seconds or compiled cells, see ``FeedbackSettings.cost``."""

    @property
    def reward(self) -> float:
        return sum(map(len, self.features.values())) + LINE_REWARD * self.lines + BUCKET_REWARD * self.buckets


class ReachedFeatures:
    """Everything that a campaign has reached so far."""

    def __init__(self, features: Set[int], lines: Mapping[str, bytes], buckets: Set[str]) -> None:
        self.features = set(features)
        self.lines = {file: int.from_bytes(bitmap, "little") for file, bitmap in lines.items()}
        self.buckets = set(buckets)

    def copy(self) -> ReachedFeatures:
        """The same, to be added to without a change here."""
        return ReachedFeatures(self.features, self.bitmaps(), self.buckets)

    def add_outcome(self, item: Item, outcome: Outcome, cost_unit: str) -> Yield:
        """Add what the item reached; returns what of it is new."""
        new: dict[int, frozenset[int]] = {}
        for variant, features in sorted(outcome.features.items()):
            added = frozenset(features) - self.features
            if added:
                new[variant] = added
                self.features |= added
        lines = 0
        for file, bitmap in outcome.lines.items():
            before = self.lines.get(file, 0)
            after = before | int(bitmap, 16)
            lines += (after ^ before).bit_count()
            self.lines[file] = after
        buckets = set(outcome.buckets) - self.buckets
        self.buckets |= buckets
        cost = outcome.cpu_seconds if cost_unit == "cpu" else float(outcome.cells)
        return Yield(item, new, lines, len(buckets), cost)

    def bitmaps(self) -> dict[str, bytes]:
        """The lines by file, as in the store."""
        return {file: bits.to_bytes((bits.bit_length() + 7) // 8, "little") for file, bits in self.lines.items()}

    def line_count(self) -> int:
        return sum(bits.bit_count() for bits in self.lines.values())


def reached_by(store: StoreReader, campaign: Campaign) -> ReachedFeatures:
    """What the committed epochs of the campaign have reached. Raises StoreError."""
    findings = store.findings(campaign.id)
    buckets = {finding.bucket for finding in findings if finding.epoch <= campaign.committed and not finding.issue}
    return ReachedFeatures(store.features(campaign.id), store.lines(campaign.id), buckets)


def add_results(
    reached: ReachedFeatures,
    corpus: Iterable[CorpusEntry],
    results: Iterable[tuple[Item, Outcome]],
    cost_unit: str,
) -> tuple[list[Yield], list[CorpusEntry]]:
    """Add ``results`` to ``reached``; returns what each yields, and their entries that are not in ``corpus``."""
    in_corpus = {(entry.program, entry.settings_digest) for entry in corpus}
    yields: list[Yield] = []
    added: list[CorpusEntry] = []
    for item, outcome in results:
        one = reached.add_outcome(item, outcome, cost_unit)
        yields.append(one)
        for entry in corpus_entries(one, outcome):
            if (entry.program, entry.settings_digest) not in in_corpus:
                in_corpus.add((entry.program, entry.settings_digest))
                added.append(entry)
    return yields, added


class ArmResult(NamedTuple):
    """Result of choosing an arm during one epoch."""

    reward: float
    cost: float
    """In averages of the epoch."""
    pulls: int


def arm_results(yields: Sequence[Yield], outcomes: Sequence[Outcome]) -> dict[ArmKey, ArmResult]:
    """Reward and cost of each arm over an epoch.

    An item's reward is at most 1, and grows with what it reached relative to the median of the items that reached
    anything: an early item that reaches thousands of features must not outweigh all others. Families of rules share
    what variants reached.
    """
    if not yields:
        return {}
    typical = statistics.median([one.reward for one in yields if one.reward] or [1.0])
    average = statistics.fmean(one.cost for one in yields) or 1.0
    results: dict[ArmKey, ArmResult] = {}
    for one, outcome in zip(yields, outcomes, strict=True):
        for arm, share, reward in _shares(one, outcome):
            before = results.get(arm, ArmResult(0.0, 0.0, 0))
            results[arm] = ArmResult(
                reward=before.reward + 1 - math.exp(-reward / typical),
                cost=before.cost + share * one.cost / average,
                pulls=before.pulls + 1,
            )
    return results


def _shares(one: Yield, outcome: Outcome) -> Iterator[tuple[ArmKey, float, float]]:
    """The arms of an item, each with its share of the cost and its reward."""
    for dimension, name in sorted(one.item.arms.items()):
        yield (dimension, name), 1.0, one.reward
    families: dict[str, set[int]] = {}
    for variant, names in outcome.rules.items():
        for name in names:
            families.setdefault(name.partition("/")[0], set()).add(variant)
    for family, variants in sorted(families.items()):
        reward = sum(len(one.features.get(variant, ())) for variant in variants)
        yield ("rules", family), len(variants) / (1 + len(outcome.rules)), float(reward)


def corpus_entries(one: Yield, outcome: Outcome) -> list[CorpusEntry]:
    """Entries for the seed and the variants of an item that reached something new and have a stored text."""
    cost = max(one.cost / max(outcome.cells, 1), 1e-3)
    digests = {**outcome.digests, 0: one.item.program}
    return [
        CorpusEntry(
            program=digests[variant],
            name=one.item.name if variant == 0 else f"corpus/{digests[variant]}.py",
            parent=one.item.program,
            arms=dict(one.item.arms),
            rules=outcome.rules.get(variant, ()),
            features=features,
            cost=cost,
            settings=one.item.options.settings,
        )
        for variant, features in one.features.items()
        if variant in digests
    ]


def smallest_cover(entries: Sequence[CorpusEntry]) -> list[CorpusEntry]:
    """Few entries that together reach every feature of ``entries``: a greedy set cover by new features per cost."""
    left: set[int] = set().union(*(entry.features for entry in entries)) if entries else set()
    chosen: list[CorpusEntry] = []
    candidates = list(entries)
    while left:
        best = max(candidates, key=lambda entry: (len(entry.features & left) / entry.cost, entry.program))
        chosen.append(best)
        left -= best.features
        candidates.remove(best)
    return [entry for entry in entries if entry in chosen]
