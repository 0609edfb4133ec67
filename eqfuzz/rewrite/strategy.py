"""Strategies: which of a seed's many variants are made."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from eqfuzz.rewrite.derive import CannotRewrite, Variant, apply
from eqfuzz.rewrite.probe import Facts
from eqfuzz.rewrite.rule import Rule
from eqfuzz.rewrite.site import Site, find_sites
from eqfuzz.rewrite.survival import weight_of
from eqfuzz.rewrite.syntax import Syntax

Study = Callable[[Variant], tuple[Syntax, Facts]]
"""Parses a variant and takes its facts again."""

STRATEGIES = ("each", "random", "all")


def sites_of(syntax: Syntax, facts: Facts, rules: Sequence[Rule]) -> list[Site]:
    """The places where a rule applies, in source order."""
    return [s for s in find_sites(syntax, facts, rules) if isinstance(s, Site)]


def each(start: Variant, sites: Sequence[Site], limit: int, rng: random.Random) -> list[Variant]:
    """One rewrite per variant, at most ``limit`` (0: all), drawn so that families alternate."""
    return _distinct(start, ([site] for site in alternate_families(sites, rng)), limit)


def every(start: Variant, sites: Sequence[Site], limit: int, rng: random.Random) -> list[Variant]:
    """The paper's way: everything that matches, in one variant.

    Where several rules clash one is drawn; further variants draw again.
    """

    def draws() -> Iterator[list[Site]]:
        for _ in range(max(limit, 1)):
            shuffled = list(sites)
            rng.shuffle(shuffled)
            chosen: list[Site] = []
            for site in shuffled:
                if not any(site.clashes(s) for s in chosen):
                    chosen.append(site)
            if chosen:
                yield sorted(chosen, key=lambda s: s.span)

    return _distinct(start, draws(), limit)


def walk(
    start: Variant, study: Study, rules: Sequence[Rule], depth: int, limit: int, rng: random.Random
) -> Iterator[Variant]:
    """Random derivations of ``depth`` rewrites, at most ``limit`` (at least one); facts are taken again after each.

    Rules that reach the backend are drawn more often (see ``survival``), and the less often the more they were used;
    a program that came out before does not come out again.
    """
    seen = {start.text_digest}
    used: Counter[str] = Counter()
    for _ in range(max(limit, 1)):
        variant = start
        for _ in range(depth):
            syntax, facts = study(variant)
            for site in _weighted(sites_of(syntax, facts, rules), used, rng):
                try:
                    variant = apply(variant, [site])
                except CannotRewrite:
                    continue  # the next site is tried; the reason is told by `rules explain`
                used[site.rule.name] += 1
                break
            else:
                break
        if variant.text_digest not in seen:
            seen.add(variant.text_digest)
            yield variant


def _weighted(sites: Sequence[Site], used: Counter[str], rng: random.Random) -> Iterator[Site]:
    """Sites in random order: first a rule by its weight, whatever the number of its sites, then one of them."""
    by_rule: dict[str, list[Site]] = {}
    for site in sites:
        by_rule.setdefault(site.rule.name, []).append(site)
    names = sorted(by_rule)
    weights = [weight_of(name) / (1 + used[name]) for name in names]
    while names:
        (index,) = rng.choices(range(len(names)), weights)
        pile = by_rule[names[index]]
        yield pile.pop(rng.randrange(len(pile)))
        if not pile:
            del names[index], weights[index]


def alternate_families(sites: Sequence[Site], rng: random.Random) -> Iterator[Site]:
    """Sites in random order, one family after the other, rules within a family alternating too."""
    families: dict[str, dict[str, list[Site]]] = {}
    for site in sites:
        families.setdefault(site.rule.family, {}).setdefault(site.rule.name, []).append(site)
    queues = [_alternate_rules(by_rule, rng) for _, by_rule in sorted(families.items())]
    rng.shuffle(queues)
    while queues:
        for queue in list(queues):
            yield queue.pop()
            if not queue:
                queues.remove(queue)


def _alternate_rules(by_rule: dict[str, list[Site]], rng: random.Random) -> list[Site]:
    piles = [list(sites) for _, sites in sorted(by_rule.items())]
    for pile in piles:
        rng.shuffle(pile)
    rng.shuffle(piles)
    order: list[Site] = []
    while piles:
        for pile in list(piles):
            order.append(pile.pop())
            if not pile:
                piles.remove(pile)
    return order[::-1]


def _distinct(start: Variant, choices: Iterator[list[Site]], limit: int) -> list[Variant]:
    seen = {start.text_digest}
    variants: list[Variant] = []
    for sites in choices:
        try:
            variant = apply(start, sites)
        except CannotRewrite:
            continue
        if variant.text_digest not in seen:
            seen.add(variant.text_digest)
            variants.append(variant)
        if limit and len(variants) == limit:
            break
    return variants
