"""Every shipped rule, proved from its own declaration; and deliberately wrong rules, which no proof may let through."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import torch

from eqfuzz.rewrite.proof.equivalence import same_bits
from eqfuzz.rewrite.proof.example import examples_of
from eqfuzz.rewrite.proof.operand_sampler import ALL_DTYPES, draw
from eqfuzz.rewrite.proof.proof import prove
from eqfuzz.rewrite.rules.exactness import Exactness
from eqfuzz.rewrite.rules.library import load_rules, shipped_rules
from eqfuzz.rewrite.rules.rule import Rule

RULES = shipped_rules()
WRONG = load_rules(Path(__file__).parent / "wrong")
DRAWS = 12
"""Operands per rule here; `eqfuzz rules check` draws many more."""

PAPER = """
    add_function sub_function mul_function div_function matmul_function
    pow_half_is_sqrt pow_function neg_function not_function invert_function
""".split()


LONG_ONES = ("forms/", "conditions/choice_to_cond", "loops/loop_to_while_loop")
"""What the names of rules begin with that stand for every operator, or compile."""


@pytest.mark.parametrize(
    "rule",
    [pytest.param(r, id=r.name, marks=pytest.mark.slow if r.name.startswith(LONG_ONES) else ()) for r in RULES],
)
def test_rule_is_proved_in_eager(rule: Rule) -> None:
    proof = prove(rule, DRAWS, compiled=0)
    assert proof.holds, "\n".join(proof.problems)
    assert proof.rewrites > 0


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("rule", RULES, ids=[r.name for r in RULES])
def test_rule_is_proved_with_dynamo(rule: Rule) -> None:
    """Into one graph, or the rule says that it breaks the graph."""
    proof = prove(rule, 5, compiled=1)
    assert proof.holds, "\n".join(proof.problems)


@pytest.mark.parametrize("rule", WRONG, ids=[r.name for r in WRONG])
def test_wrong_rule_is_refuted(rule: Rule) -> None:
    assert not prove(rule, DRAWS).holds, f"{rule.name} passes for a rule"


def test_there_are_at_least_300_rules_in_10_families() -> None:
    assert len(RULES) >= 300
    assert len({r.family for r in RULES}) >= 10
    assert len(WRONG) >= 20


def test_names_are_unique_and_documented() -> None:
    names = [r.name for r in RULES]
    assert len(names) == len(set(names))
    for rule in RULES:
        assert rule.doc.strip().endswith("."), f"{rule.name} has no docstring of whole sentences"


def test_rewrites_of_the_paper_are_shipped() -> None:
    by_name = {r.name.removeprefix("operators/"): r for r in RULES}
    for name in PAPER:
        assert "Jin & Wan" in by_name[name].source, name


def test_operands_drawn_from_equal_seeds_are_equal() -> None:
    for rule in RULES[::29]:
        (example, *_) = examples_of(rule)
        first, second = (draw(example, random.Random(11)) for _ in range(2))
        assert first is not None
        assert second is not None
        for name, value in first.items():
            other = second[name]
            if isinstance(value, torch.Tensor):
                assert value.stride() == other.stride()
                assert value.dtype == other.dtype
                assert same_bits(value.detach(), other.detach())
            else:
                assert value == other


def test_drawn_operands_cover_the_corner_cases() -> None:
    """Large, empty, 0-d, strided, broadcast and special operands are drawn for a rule without preconditions."""
    (example,) = examples_of(next(r for r in RULES if r.name == "operators/add_function"))
    pairs = [v for v in (draw(example, random.Random(i)) for i in range(400)) if v is not None]
    xs = [v["x"] for v in pairs]
    assert any(x.numel() >= 1000 for x in xs)
    assert any(x.numel() == 0 for x in xs)
    assert any(x.ndim == 0 for x in xs)
    assert any(not x.is_contiguous() for x in xs)
    assert any(x.requires_grad for x in xs)
    assert any(x.is_complex() and x.is_conj() for x in xs)
    assert any(x.dtype.is_floating_point and bool(x.isnan().any()) for x in xs)
    assert any(isinstance(v["y"], torch.Tensor) and v["y"].shape != v["x"].shape for v in pairs)
    assert any(isinstance(v["y"], torch.Tensor) and v["y"].dtype != v["x"].dtype for v in pairs)
    assert any(not isinstance(v["y"], torch.Tensor) for v in pairs)
    assert {x.dtype for x in xs} == set(ALL_DTYPES)


def test_layout_weakens_a_derivation_and_nothing_else_does() -> None:
    for rule in RULES:
        if rule.exact is Exactness.BITWISE:
            assert rule.effect is (Exactness.ULP if rule.layout else Exactness.BITWISE)
        else:
            assert rule.effect is rule.exact
