"""Rules about random numbers: the generator's state after them is the one without them."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest
import torch

from eqfuzz.program.load import reseed
from eqfuzz.rewrite.proof.example import examples_of, right_of
from eqfuzz.rewrite.proof.proof import operands
from eqfuzz.rewrite.rules.library import load_rules, shipped_rules
from eqfuzz.rewrite.rules.rule import Rule, RuleError
from eqfuzz.rewrite.rules.selection import select
from tests.rules.matching import HEADER, X, reasons_in, sites_in, variants

EQUATIONS = [r for r in select(shipped_rules(), "randomness/*") if not r.is_generator]


@pytest.mark.parametrize("rule", EQUATIONS, ids=[r.name for r in EQUATIONS])
def test_both_sides_leave_the_generator_in_the_same_state(rule: Rule) -> None:
    (example,) = examples_of(rule)
    states = []
    for side in (example.run, right_of(rule)):
        for values in operands(example, rule.name, 24):
            reseed(5)
            side(copy.deepcopy(values))
            states.append(torch.get_rng_state())
    half = len(states) // 2
    assert half > 5
    assert all(torch.equal(a, b) for a, b in zip(states[:half], states[half:], strict=True))


def test_state_is_not_saved_around_statements_that_draw() -> None:
    for value in ("torch.rand(3) + x", "F.dropout(x, 0.5)", "helper(x)"):
        source = f"{HEADER}def helper(x):\n    return x\n\n\ndef program(x):\n    z = {value}\n    return z\n"
        assert sites_in(source, "randomness/state_*", X) == []
        assert "side effects" in " ".join(reasons_in(source, "randomness/state_*", X))


def test_only_names_are_stored_between_states() -> None:
    source = f"{HEADER}def program(x):\n    x = x.clone()\n    x[0] = x[1] * 2\n    return x\n"
    assert {s.line for s in sites_in(source, "randomness/state_*", X)} == {4}


def test_later_draws_are_unchanged() -> None:
    value = "z + torch.rand(2, 3), torch.randn(2, 3), torch.rand_like(x)"
    source = f"{HEADER}def program(x):\n    z = x * 2\n    return {value}\n"
    rules = "randomness/*,-randomness/permuted_and_back"
    assert len(variants(source, rules, X)) == 11


def test_rule_whose_right_side_stores_a_name_is_refused(tmp_path: Path) -> None:
    text = "from eqfuzz.rewrite.rules.rule import rule\n\n@rule(exact='bitwise')\n"
    text += "def kept(x):\n    return -x, (y := x).neg()\n"
    (tmp_path / "storing.py").write_text(text)
    with pytest.raises(RuleError, match="storing/kept: the right side stores"):
        load_rules(tmp_path)
