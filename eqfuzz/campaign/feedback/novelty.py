"""What an epoch brought that was not there before: features, lines of the compiler, buckets, programs worth keeping."""

from __future__ import annotations

import dataclasses
import math
import statistics
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any

from eqfuzz.campaign.store.records import CorpusEntry, Item, Json

BUCKET_WORTH = 20
"""What the first finding of a bucket counts, in new features."""

LINE_WORTH = 1 / 80
"""What a new line counts: a program runs some 24,000, shows some 300 features, and only a sample is traced."""


@dataclasses.dataclass(frozen=True)
class Yield:
    """What one item brought that nothing before it had: by variant (0 is the seed), its new features.

    ``lines`` counts new lines of the compiler, ``buckets`` new buckets; ``cost`` is in the unit that yield is measured
    by.
    """

    item: Item
    features: Mapping[int, frozenset[int]]
    lines: int
    buckets: int
    cost: float

    @property
    def worth(self) -> float:
        return sum(map(len, self.features.values())) + LINE_WORTH * self.lines + BUCKET_WORTH * self.buckets


class ReachedFeatures:
    """Everything that a campaign has reached so far."""

    def __init__(self, features: Set[int], lines: Mapping[str, bytes], buckets: Set[str]) -> None:
        self.features = set(features)
        self.lines = {file: int.from_bytes(bitmap, "little") for file, bitmap in lines.items()}
        self.buckets = set(buckets)

    def take(self, item: Item, outcome: Json, cost_unit: str) -> Yield:
        """What the outcome of ``item`` adds; known from now on."""
        new: dict[int, frozenset[int]] = {}
        for variant, features in sorted((int(key), value) for key, value in outcome["features"].items()):
            added = frozenset(features) - self.features
            if added:
                new[variant] = added
                self.features |= added
        lines = 0
        for file, bitmap in outcome["lines"].items():
            before = self.lines.get(file, 0)
            after = before | int(bitmap, 16)
            lines += (after ^ before).bit_count()
            self.lines[file] = after
        buckets = {bucket for bucket in outcome["buckets"] if bucket not in self.buckets}
        self.buckets |= buckets
        cost = outcome["cpu_seconds"] if cost_unit == "cpu" else float(outcome["cells"])
        return Yield(item, new, lines, len(buckets), cost)

    def bitmaps(self) -> dict[str, bytes]:
        """The lines by file, as the store keeps them."""
        return {file: bits.to_bytes((bits.bit_length() + 7) // 8, "little") for file, bits in self.lines.items()}

    def line_count(self) -> int:
        return sum(bits.bit_count() for bits in self.lines.values())


def earned(yields: Sequence[Yield], outcomes: Sequence[Json]) -> dict[tuple[str, str], tuple[float, float, int]]:
    """Reward, cost and pulls of each arm over an epoch.

    An item succeeds the more the more it brought, at most once, measured by the median of those that brought something:
    an early one that reaches thousands of features must not outweigh all others. Costs are in averages of the epoch.
    Families of rules share what variants brought.
    """
    if not yields:
        return {}
    typical = statistics.median([one.worth for one in yields if one.worth] or [1.0])
    average = statistics.fmean(one.cost for one in yields) or 1.0
    arms: dict[tuple[str, str], tuple[float, float, int]] = {}
    for one, outcome in zip(yields, outcomes, strict=True):
        for arm, share, worth in _shares(one, outcome):
            reward, cost, pulls = arms.get(arm, (0.0, 0.0, 0))
            arms[arm] = reward + 1 - math.exp(-worth / typical), cost + share * one.cost / average, pulls + 1
    return arms


def _shares(one: Yield, outcome: Json) -> Iterator[tuple[tuple[str, str], float, float]]:
    """The arms that an item pulled, each with its share of the cost and the worth that it is credited with."""
    for dimension, name in sorted(one.item.arms.items()):
        yield (dimension, name), 1.0, one.worth
    rules: Mapping[str, Sequence[str]] = outcome["rules"]
    families: dict[str, set[int]] = {}
    for variant, names in rules.items():
        for name in names:
            families.setdefault(name.partition("/")[0], set()).add(int(variant))
    for family, variants in sorted(families.items()):
        worth = sum(len(one.features.get(variant, ())) for variant in variants)
        yield ("rules", family), len(variants) / (1 + len(rules)), float(worth)


def entries(one: Yield, outcome: Json, digests: Mapping[int, str]) -> list[CorpusEntry]:
    """The seed and the variants of an item that reached something new; ``digests`` name their texts by variant."""
    cost = max(one.cost / max(outcome["cells"], 1), 1e-3)
    found: list[CorpusEntry] = []
    rules: Mapping[str, Sequence[str]] = outcome["rules"]
    for variant, features in one.features.items():
        if variant not in digests:
            continue
        digest = digests[variant]
        name = one.item.name if variant == 0 else f"corpus/{digest}.py"
        made_by = tuple(rules.get(str(variant), ()))
        found.append(CorpusEntry(digest, name, one.item.program, dict(one.item.arms), made_by, features, cost))
    return found


def smallest_cover(entries: Sequence[CorpusEntry]) -> list[CorpusEntry]:
    """Few entries that reach all that ``entries`` reach: greedily the one that adds most per cost (set cover)."""
    left: set[int] = set().union(*(entry.features for entry in entries)) if entries else set()
    chosen: list[CorpusEntry] = []
    candidates = list(entries)
    while left:
        best = max(candidates, key=lambda entry: (len(entry.features & left) / entry.cost, entry.program))
        chosen.append(best)
        left -= best.features
        candidates.remove(best)
    return [entry for entry in entries if entry in chosen]


def empty_outcome(state: str, reason: str = "") -> dict[str, Any]:
    """An outcome that brought nothing: of an invalid seed, an internal error, a case that cost its worker thrice."""
    return {
        "state": state,
        "reason": reason,
        "sites": 0,
        "variants": 0,
        "cells": 0,
        "erased": 0,
        "verdicts": {},
        "seconds": 0.0,
        "cpu_seconds": 0.0,
        "peak_mb": 0,
        "features": {},
        "rules": {},
        "texts": {},
        "lines": {},
        "buckets": [],
        "findings": [],
        "shown": [],
    }
