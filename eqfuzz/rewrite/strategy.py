"""Strategies: which of a seed's many variants are made."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

from eqfuzz.rewrite.derive import CannotRewrite, Variant, apply
from eqfuzz.rewrite.probe import Facts
from eqfuzz.rewrite.rule import Rule
from eqfuzz.rewrite.site import Site, find_sites
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
    """Random derivations of ``depth`` rewrites, at most ``limit`` (at least one); facts are taken again after each."""
    seen = {start.program.source}
    for _ in range(max(limit, 1)):
        variant = start
        for _ in range(depth):
            syntax, facts = study(variant)
            for site in alternate_families(sites_of(syntax, facts, rules), rng):
                try:
                    variant = apply(variant, [site])
                except CannotRewrite:
                    continue  # the next site is tried; the reason is told by `rules explain`
                break
            else:
                break
        if variant.program.source not in seen:
            seen.add(variant.program.source)
            yield variant


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
    seen = {start.program.source}
    variants: list[Variant] = []
    for sites in choices:
        try:
            variant = apply(start, sites)
        except CannotRewrite:
            continue
        if variant.program.source not in seen:
            seen.add(variant.program.source)
            variants.append(variant)
        if limit and len(variants) == limit:
            break
    return variants
