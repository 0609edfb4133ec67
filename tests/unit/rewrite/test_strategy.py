"""Which variants are made: families alternate, seeds decide, nothing comes twice."""

import random

import pytest
import torch

from eqfuzz.program.formats import recognise
from eqfuzz.rewrite.derivation import original
from eqfuzz.rewrite.rules.exactness import Exactness
from eqfuzz.rewrite.rules.library import shipped_rules
from eqfuzz.rewrite.site import sites_of
from eqfuzz.rewrite.strategy import alternate_families, each, every, walk
from tests.unit.rewrite.sample_program import PROGRAM, SITES, SOURCE, run, study


def test_each_makes_one_rewrite_per_variant_and_families_alternate():
    variants = each(original(PROGRAM), SITES, 6, random.Random(3))
    assert len(variants) == 6
    assert all(len(v.derivation) == 1 for v in variants)
    assert len({v.families for v in variants}) == 6
    assert len({v.program.source for v in variants}) == 6


def test_limit_zero_gives_all_variants_once():
    variants = each(original(PROGRAM), SITES, 0, random.Random(3))
    sources = [v.program.source for v in variants]
    assert len(sources) == len(set(sources)) > 50
    assert PROGRAM.source not in sources


def test_same_seed_gives_the_same_variants():
    def sources(seed):
        return [v.program.source for v in each(original(PROGRAM), SITES, 8, random.Random(seed))]

    assert sources(1) == sources(1) != sources(2)


def test_every_rewrites_many_places_at_once():
    (variant,) = every(original(PROGRAM), SITES, 1, random.Random(0))
    assert len(variant.derivation) > 3
    assert torch.equal(run(variant), run(original(PROGRAM)))


def test_walks_have_the_requested_depth_and_compose_exactness():
    walks = list(walk(original(PROGRAM), study, shipped_rules(), 4, 3, random.Random(0)))
    assert [len(v.derivation) for v in walks] == [4, 4, 4]
    effects = {rule.name: rule.effect for rule in shipped_rules()}
    for variant in walks:
        expected = Exactness.BITWISE
        for step in variant.derivation:
            expected = expected.compose(effects[step.rule])
        assert variant.exactness is expected
        run(variant)


def test_a_derivation_ends_at_a_program_that_does_not_run():
    """It comes out, so that its eager run shows what is wrong; the seed itself has to run."""

    def broken(variant):
        if len(variant.derivation) == 2:
            raise RuntimeError("a rule has broken it")
        return study(variant)

    walks = list(walk(original(PROGRAM), broken, shipped_rules(), 4, 2, random.Random(0)))
    assert [len(v.derivation) for v in walks] == [2, 2]
    with pytest.raises(RuntimeError):
        list(walk(walks[0], broken, shipped_rules(), 4, 2, random.Random(0)))


def test_state_of_a_generator_stays_contiguous():
    source = SOURCE.replace("z = torch.relu", "torch.set_rng_state(torch.get_rng_state())\n    z = torch.relu")
    start = original(recognise(source, "seed.py"))
    assert not any(site.rule.layout for site in sites_of(*study(start), shipped_rules()))
    assert any(site.rule.layout for site in SITES)


def test_alternation_keeps_every_site():
    assert sorted(s.span for s in alternate_families(SITES, random.Random(0))) == sorted(s.span for s in SITES)


def test_exactness_composes_to_the_weaker():
    assert Exactness.BITWISE.compose(Exactness.ULP) is Exactness.ULP
    assert Exactness.REAL.compose(Exactness.ULP) is Exactness.REAL
