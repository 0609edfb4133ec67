"""What the rules find in the shipped seeds: nearly every rule fires somewhere, and a seed has many variants."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import pytest

from eqfuzz.program import shipped
from eqfuzz.program.formats import read_program
from eqfuzz.program.load import Loaded
from eqfuzz.rewrite import strategy
from eqfuzz.rewrite.derivation import original
from eqfuzz.rewrite.facts.probe import take_facts
from eqfuzz.rewrite.rules.library import shipped_rules
from eqfuzz.rewrite.site import sites_of
from eqfuzz.rewrite.source.syntax import Syntax

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.timeout(1800)]

# Those of regressions/ are as small as their defects.
SEEDS = sorted(path for path in shipped.folder("seeds").rglob("*.py") if path.parent.name != "regressions")
ENOUGH = 60


@dataclasses.dataclass(frozen=True)
class Yield:
    """What one seed gives: the rules that apply, and how many of its single-rewrite variants differ, up to ENOUGH."""

    seed: str
    rules: frozenset[str]
    variants: int

    @property
    def families(self) -> int:
        return len({rule.split("/")[0] for rule in self.rules})


def yield_of(path: Path) -> Yield:
    program = read_program(path)
    syntax = Syntax(program.source)
    facts = take_facts(program, syntax, Loaded(program).calls(0))
    sites = sites_of(syntax, facts, shipped_rules())
    variants = strategy.each(original(program), sites, ENOUGH, random.Random(0))
    return Yield(path.name, frozenset(site.rule.name for site in sites), len(variants))


@pytest.fixture(scope="module")
def yields() -> Sequence[Yield]:
    return [yield_of(path) for path in SEEDS]


def test_nearly_every_rule_fires_in_some_shipped_seed(yields: Sequence[Yield]) -> None:
    fired = frozenset[str]().union(*(y.rules for y in yields))
    rules = [rule.name for rule in shipped_rules()]
    silent = [name for name in rules if name not in fired]
    assert len(silent) <= 0.05 * len(rules), f"{len(silent)} of {len(rules)} rules are silent: {', '.join(silent)}"


def test_half_of_the_seeds_have_many_variants(yields: Sequence[Yield]) -> None:
    poor = [f"{y.seed} ({y.variants})" for y in yields if y.variants < ENOUGH]
    assert median(y.variants for y in yields) >= ENOUGH, f"few variants: {', '.join(poor)}"


def test_half_of_the_seeds_have_variants_of_many_families(yields: Sequence[Yield]) -> None:
    poor = [f"{y.seed} ({y.families})" for y in yields if y.families < 8]
    assert median(y.families for y in yields) >= 8, f"few families: {', '.join(poor)}"
