"""A derivation made again from its record: the same program, and parts of it as far as they stand alone."""

import random

import pytest
import torch

from eqfuzz.rewrite.derivation import CannotRewrite, original, rederive
from eqfuzz.rewrite.rewrite_step import RewriteStep
from eqfuzz.rewrite.rules.library import shipped_rules
from eqfuzz.rewrite.strategy import every, walk
from tests.unit.rewrite.sample_program import PROGRAM, SITES, run, study

RULES = {rule.name: rule for rule in shipped_rules()}
START = original(PROGRAM)


@pytest.mark.parametrize("seed", range(4))
def test_replaying_a_whole_derivation_gives_the_same_program(seed):
    (variant,) = walk(START, study, shipped_rules(), 5, 1, random.Random(seed))
    assert rederive(START, study, RULES, variant.derivation).program.source == variant.program.source


@pytest.mark.parametrize("seed", range(6))
def test_single_steps_can_be_replayed_alone(seed):
    (variant,) = every(START, SITES, 1, random.Random(seed))
    for step in variant.derivation:
        alone = rederive(START, study, RULES, [step])
        assert [s.rule for s in alone.derivation] == [step.rule]
        assert torch.equal(run(alone), run(START))


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (RewriteStep("algebra/there_is_none", 1, "x", "y"), "no such rule"),
        (RewriteStep(SITES[0].rule.name, 1, "not in the program", ""), "left to rewrite"),
    ],
)
def test_step_without_a_place_raises(step, message):
    with pytest.raises(CannotRewrite, match=message):
        rederive(START, study, RULES, [step])


def test_step_is_replayed_at_the_nearest_place_with_its_text():
    by_rule = [s for s in SITES if sum(t.rule is s.rule and t.before == s.before for t in SITES) > 1]
    for site in by_rule[:10]:
        step = RewriteStep.at(site)
        assert rederive(START, study, RULES, [step]).derivation == (step,)
