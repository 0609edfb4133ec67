"""Strategies: which of a seed's many variants are made."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import TypeVar

from eqfuzz.rewrite.compatible_sites import SiteSet
from eqfuzz.rewrite.derivation import CannotRewrite, Study, Variant, apply
from eqfuzz.rewrite.facts.probe import Facts
from eqfuzz.rewrite.rules.compile_depth import weight_of
from eqfuzz.rewrite.rules.rule import Rule
from eqfuzz.rewrite.site import Site, sites_of
from eqfuzz.rewrite.source.syntax import Syntax

_T = TypeVar("_T")

_WITHOUT_BOUND = ("sparse/",)

FAVOUR = 8
"""How many times more often a rule of a favoured family is drawn."""


def each(start: Variant, sites: Sequence[Site], limit: int, rng: random.Random) -> list[Variant]:
    """One rewrite per variant, at most ``limit`` (0: all), drawn so that families alternate."""
    return _distinct(start, ([site] for site in alternate_families(sites, rng)), limit)


def every(start: Variant, sites: Sequence[Site], limit: int, rng: random.Random) -> list[Variant]:
    """The paper's way: everything that matches, in one variant.

    Where several rules clash one is drawn, those with few sites and those that reach the backend before the others;
    further variants draw again, rules that were used less often first. What only inserts statements does so once, and
    every second variant does without the families beside which rounding errors have no bound.
    """
    piles: dict[str, list[Site]] = {}
    for site in sites:
        piles.setdefault(site.rule.name, []).append(site)
    used: Counter[str] = Counter()

    def draws() -> Iterator[list[Site]]:
        for number in range(max(limit, 1)):
            names = [name for name in piles if number % 2 or not name.startswith(_WITHOUT_BOUND)]
            weights = [weight_of(name) / len(piles[name]) / (1 + used[name]) for name in names]
            ordered = _weighted([_shuffled(piles[name], rng) for name in names], weights, rng)
            chosen = SiteSet(start.program.source)
            for site in _in_turn(ordered):
                chosen.admit(site)
            used.update(site.rule.name for site in chosen.sites)
            if chosen.sites:
                yield sorted(chosen.sites, key=lambda s: s.span)

    return _distinct(start, draws(), limit)


def walk(
    start: Variant,
    study: Study,
    rules: Sequence[Rule],
    depth: int,
    limit: int,
    rng: random.Random,
    favoured: Collection[str] = (),
) -> Iterator[Variant]:
    """Random derivations of ``depth`` rewrites, at most ``limit`` (at least one); facts are taken again after each.

    Rules that reach the backend are drawn more often (see ``survival``), those of the ``favoured`` families too, and
    the less often the more they were used; a program that came out before does not come out again. A derivation ends
    at a program that cannot be studied: it comes out, and what is wrong with it is for its eager run to show.
    """
    seen = {start.text_digest}
    used: Counter[str] = Counter()
    for _ in range(max(limit, 1)):
        variant = start
        for _ in range(depth):
            try:
                syntax, facts = study(variant)
            except Exception:  # the program's own: a rule has broken it
                if variant is start:
                    raise
                break
            step = _draw_step(variant, syntax, facts, rules, used, rng, favoured)
            if step is None:
                break
            variant, rule = step
            used[rule.name] += 1
        if variant.text_digest not in seen:
            seen.add(variant.text_digest)
            yield variant


def _draw_step(
    variant: Variant,
    syntax: Syntax,
    facts: Facts,
    rules: Sequence[Rule],
    used: Counter[str],
    rng: random.Random,
    favoured: Collection[str],
) -> tuple[Variant, Rule] | None:
    """One rewrite: a rule is drawn by its weight, whatever the number of its sites, and then one of them."""
    weights = [
        weight_of(rule.name) * (FAVOUR if rule.family in favoured else 1) / (1 + used[rule.name]) for rule in rules
    ]
    for rule in _weighted(rules, weights, rng):
        sites = sites_of(syntax, facts, [rule])
        rng.shuffle(sites)
        for site in sites:
            try:
                return apply(variant, [site]), rule
            except CannotRewrite:
                continue  # the next site is tried; `rules explain` prints the reason
    return None


def _weighted(items: Sequence[_T], weights: Sequence[float], rng: random.Random) -> list[_T]:
    """All items in random order without replacement, the heavier the sooner (Efraimidis & Spirakis 2006)."""
    keys = [rng.random() ** (1 / weight) for weight in weights]
    return [items[i] for i in sorted(range(len(items)), key=lambda i: keys[i], reverse=True)]


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
    piles = [_shuffled(sites, rng) for _, sites in sorted(by_rule.items())]
    rng.shuffle(piles)
    return list(_in_turn(piles))[::-1]


def _in_turn(piles: Sequence[Sequence[Site]]) -> Iterator[Site]:
    """The last of each pile, then the one before of each that has more, until all are empty."""
    left = [list(pile) for pile in piles]
    while left:
        for pile in left:
            yield pile.pop()
        left = [pile for pile in left if pile]


def _shuffled(items: Sequence[_T], rng: random.Random) -> list[_T]:
    shuffled = list(items)
    rng.shuffle(shuffled)
    return shuffled


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
