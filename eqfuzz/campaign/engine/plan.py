"""The items of an epoch: what is run next, decided by the campaign's random seed and what was learnt so far."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence

from eqfuzz.campaign.configuration import Configuration
from eqfuzz.campaign.feedback.bandit import Bandit
from eqfuzz.campaign.sources.files import DrawHistory, SeedSource, SeedText
from eqfuzz.campaign.store.records import Item
from eqfuzz.oracle.compare.verdict import VerdictKind

Symptom = tuple[str, ...]
"""What a cell shows, see ``Cell.symptom``."""

FAVOURED = 4
"""Families of rules that a seed's random derivations draw from more often."""


class NothingToDo(Exception):
    """No source gives a seed (any more); ``str()`` says so in one line."""


def plan(
    configuration: Configuration,
    epoch: int,
    sources: Sequence[SeedSource],
    families: Sequence[str],
    configs: Sequence[str],
    bandit: Bandit,
    drawn: DrawHistory,
    keep: Callable[[str], str],
    met: Mapping[str, Collection[Symptom]],
) -> list[Item]:
    """The items of ``epoch`` (from 1): the same for the same arguments.

    ``keep`` stores a program's text and returns its digest; ``met`` has what originals are known to show, by digest: it
    is not confirmed again, and one that hangs is not run again, for each of its cells would wait out the limit. Without
    feedback every choice is uniform. Raises NothingToDo.
    """
    feedback = configuration.feedback
    rng = random.Random(f"{configuration.seed} epoch {epoch}")
    times = Counter(drawn.times)
    barred = set(drawn.invalid)
    items: list[Item] = []

    def draw(source: SeedSource, index: int) -> SeedText | None:
        while True:
            seedling = source.draw(rng, index, DrawHistory(times, frozenset(barred)))
            if seedling is None or not _hangs(met.get(keep(seedling.text), ())):
                return seedling
            if seedling.name in barred:
                return None  # the source gives the same whatever it is told
            barred.add(seedling.name)

    for number in range(feedback.epoch):
        index = (epoch - 1) * feedback.epoch + number
        ranked = _ranked(feedback.enabled, bandit, "source", [source.name for source in sources], rng)
        by_name = {source.name: source for source in sources}
        for name in ranked:
            seedling = draw(by_name[name], index)
            if seedling is not None:
                break
        else:
            break
        times[seedling.name] += 1
        config = _ranked(feedback.enabled, bandit, "config", configs, rng)[0]
        favoured = bandit.ranked("rules", families, rng)[:FAVOURED] if feedback.enabled else []
        digest = keep(seedling.text)
        options = {
            "seed": rng.getrandbits(32),
            "favoured": sorted(favoured),
            "configs": [config],
            "traced": rng.random() < feedback.traced,
            "met": sorted(map(list, met.get(digest, ()))),
        }
        arms = {"source": name, "config": config}
        items.append(Item(epoch, number, digest, seedling.name, arms, options))
    if not items:
        raise NothingToDo("no source gives a seed: every file is invalid or cannot be read, and no template is chosen")
    return items


def _hangs(shown: Collection[Symptom]) -> bool:
    return any(str(VerdictKind.HANG) in symptom for symptom in shown)


def _ranked(steered: bool, bandit: Bandit, dimension: str, names: Sequence[str], rng: random.Random) -> list[str]:
    if steered:
        return bandit.ranked(dimension, names, rng)
    return rng.sample(list(names), len(names))
