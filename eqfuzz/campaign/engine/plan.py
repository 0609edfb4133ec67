"""Plan of an epoch: its items, chosen by the campaign's random seed and by what was learnt so far."""

from __future__ import annotations

import dataclasses
import random
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence

from eqfuzz.campaign.configuration import CODE, FIRST_GRAPHS, GRAPHS, Configuration
from eqfuzz.campaign.feedback.bandit import Bandit
from eqfuzz.campaign.sources.files import DrawHistory, SeedSource, SeedText
from eqfuzz.campaign.store.outcome import Symptom
from eqfuzz.campaign.store.records import Item, ItemOptions, Json
from eqfuzz.oracle.compare.verdict import VerdictKind
from eqfuzz.program.provenance import InvalidProvenance, provenance_of
from eqfuzz.run.configs.mutation import mutate_config
from eqfuzz.run.configs.named import DEFAULT_CONFIG, MUTATED, Config
from eqfuzz.run.configs.options import Option

FIRST_EPOCH = 4
"""Largest number of seeds of the first epoch, in which the smallest are the first: a new campaign learns early."""

TIER_COSTS = {FIRST_GRAPHS: 0.1, GRAPHS: 1.4, CODE: 1.5}
"""What an item costs in a campaign with as many items of each, in averages: from the medians in campaigns.md."""

FAVOURED = 4
"""Number of families of rules that a seed's random derivations draw from more often."""


class NothingToDo(Exception):
    """No source gives a seed; ``str()`` is one line."""


@dataclasses.dataclass(frozen=True)
class SearchSpace:
    """What the items of a campaign are chosen from."""

    sources: Sequence[SeedSource]
    families: Sequence[str]
    """Families of rules."""
    configs: Sequence[str]
    """Names of compile configurations."""
    lowered: frozenset[str] = frozenset()
    """Names of those that lower graphs to code, so that an item may end with graphs that are not wrong."""
    seed_configs: frozenset[str] = frozenset()
    """Names of those that a seed may name for itself."""
    options: Sequence[Option] = ()
    """Options of the compiler that mutated configurations set."""

    def configs_of(self, seed: str) -> Sequence[str]:
        """Names of the configurations that the seed of this text is compiled under one of."""
        try:
            provenance = provenance_of(seed)
        except InvalidProvenance:  # of an invalid seed, which its item reports
            provenance = None
        named = provenance.configs if provenance is not None else ()
        return [name for name in named if name in self.seed_configs] or self.configs


def plan_epoch(
    configuration: Configuration,
    epoch: int,
    space: SearchSpace,
    bandit: Bandit,
    history: DrawHistory,
    put_program: Callable[[str], str],
    symptoms: Mapping[str, Collection[Symptom]],
    buckets: Collection[str] = (),
) -> list[Item]:
    """The items of ``epoch``, which counts from 1: the same for the same arguments.

    ``put_program`` stores a text and returns its digest; ``symptoms`` are the confirmed ones of originals by digest,
    ``buckets`` the ids of those with a confirmed finding. They are not confirmed again, and an original that hangs is
    not run again, since each of its cells would take the whole timeout. Without feedback every choice is uniform.
    Raises NothingToDo.
    """
    feedback = configuration.feedback
    rng = random.Random(f"{configuration.seed} epoch {epoch}")
    times = Counter(history.times)
    barred = set(history.invalid)
    items: list[Item] = []
    sizes: list[int] = []

    def draw(source: SeedSource, index: int) -> SeedText | None:
        while True:
            seed = source.draw(rng, index, DrawHistory(times, frozenset(barred)))
            if seed is None or not _hangs(symptoms.get(put_program(seed.text), ())):
                return seed
            if seed.name in barred:
                return None  # the source ignores the history
            barred.add(seed.name)

    for number in range(min(feedback.epoch, FIRST_EPOCH) if epoch == 1 else feedback.epoch):
        index = (epoch - 1) * feedback.epoch + number
        by_name = {source.name: source for source in space.sources}
        for name in _ranked(feedback.enabled, bandit, "source", [source.name for source in space.sources], rng):
            seed = draw(by_name[name], index)
            if seed is not None:
                break
        else:
            break
        times[seed.name] += 1
        config = _ranked(feedback.enabled, bandit, "config", space.configs_of(seed.text), rng)[0]
        settings: Json = {}
        if config == MUTATED:
            base = Config(**seed.settings) if seed.settings else DEFAULT_CONFIG
            mutated = mutate_config(base, rng, space.options)
            settings = mutated.model_dump(mode="json", exclude_defaults=True)
            config_names: tuple[str, ...] = (mutated.name,)
            is_lowered = mutated.backend == DEFAULT_CONFIG.backend
        else:
            config_names = (config,)
            is_lowered = config in space.lowered
        arms = {"source": name, "config": config}
        if is_lowered:
            tiers = configuration.compiling.tiers
            if times[seed.name] > 1:  # its first call would only be judged again
                tiers = tuple(tier for tier in tiers if tier != FIRST_GRAPHS) or tiers
            arms["tier"] = _ranked(feedback.enabled, bandit, "tier", tiers, rng, TIER_COSTS)[0]
        favoured = bandit.rank("rules", space.families, rng)[:FAVOURED] if feedback.enabled else []
        digest = put_program(seed.text)
        options = ItemOptions(
            seed=rng.getrandbits(32),
            favoured=tuple(sorted(favoured)),
            configs=config_names,
            traced=rng.random() < feedback.traced,
            met=tuple(sorted(symptoms.get(digest, ()))),
            graphs_first=arms.get("tier") in (GRAPHS, FIRST_GRAPHS),
            first_call=arms.get("tier") == FIRST_GRAPHS,
            buckets=tuple(sorted(buckets)),
            settings=settings,
        )
        sizes.append(len(seed.text))
        items.append(Item(epoch, number, digest, seed.name, arms, options))
    if not items:
        raise NothingToDo("no source gives a seed: every file is invalid or cannot be read, and no template is chosen")
    if epoch == 1:
        smallest_first = sorted(range(len(items)), key=sizes.__getitem__)
        items = [dataclasses.replace(items[drawn], number=number) for number, drawn in enumerate(smallest_first)]
    return items


def _hangs(symptoms: Collection[Symptom]) -> bool:
    return any(str(VerdictKind.HANG) in symptom for symptom in symptoms)


def _ranked(
    uses_feedback: bool,
    bandit: Bandit,
    dimension: str,
    names: Sequence[str],
    rng: random.Random,
    costs: Mapping[str, float] | None = None,
) -> list[str]:
    if not uses_feedback:
        return rng.sample(list(names), len(names))
    return bandit.rank(dimension, names, rng, costs)
