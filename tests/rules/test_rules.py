"""Every shipped rule, tested from its own declaration: operands are drawn that it admits, and both sides run."""

from __future__ import annotations

import random
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch

from eqfuzz.program.load import Call, Loaded
from eqfuzz.program.program import Format, Program
from eqfuzz.rewrite.derive import apply, original
from eqfuzz.rewrite.library import equation_of, load_rules, shipped_rules
from eqfuzz.rewrite.probe import take_facts
from eqfuzz.rewrite.rule import Exactness, Rule
from eqfuzz.rewrite.sample import ALL_DTYPES, draw
from eqfuzz.rewrite.site import NearMiss, Site, find_sites
from eqfuzz.rewrite.syntax import Syntax
from eqfuzz.rewrite.template import code_of
from tests.rules.equality import compare_values, disagreement, same_bits

RULES = shipped_rules()
WRONG = load_rules(Path(__file__).parent / "wrong")
TRIES = 30
PER_DTYPE = 3

PAPER = """
    add_function sub_function mul_function div_function matmul_function
    pow_half_is_sqrt pow_function neg_function not_function invert_function
""".split()

each_rule = pytest.mark.parametrize("rule", RULES, ids=[r.name for r in RULES])


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Threads only get in each other's way on tensors this small."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
    torch.set_num_threads(threads)


@cache
def draws(rule: Rule) -> list[dict[str, Any]]:
    """Operands from free draws, and from draws restricted to each dtype that the rule admits."""
    found = [draw(rule, random.Random(f"{rule.name} {i}")) for i in range(TRIES)]
    for dtype in ALL_DTYPES:
        for i in range(PER_DTYPE):
            values = draw(rule, random.Random(f"{rule.name} {dtype} {i}"), [dtype])
            if values is None or not any(isinstance(v, torch.Tensor) and v.dtype is dtype for v in values.values()):
                break
            found.append(values)
    return [values for values in found if values is not None]


@each_rule
def test_operands_are_found(rule: Rule) -> None:
    found = sum(draw(rule, random.Random(f"{rule.name} {i}")) is not None for i in range(TRIES))
    assert found >= 25, f"only {found} of {TRIES} draws met the guards"


@each_rule
def test_both_sides_are_equal(rule: Rule) -> None:
    for i, values in enumerate(draws(rule)):
        problem = disagreement(rule, values, seed=i)
        assert problem is None, f"{problem}\n  on {shown(values)}"


@each_rule
def test_the_left_side_is_found_and_rewritten_in_a_program(rule: Rule) -> None:
    for values in draws(rule)[:4]:
        left = code_of(equation_of(rule).left).strip()
        program = program_of(f"({left})", list(values))
        call = Call(tuple(values.values()), {})
        syntax = Syntax(program.source)
        found = list(find_sites(syntax, take_facts(program, syntax, [call]), [rule]))
        sites = [s for s in found if isinstance(s, Site)]
        assert sites, [n.reason for n in found if isinstance(n, NearMiss)]
        variant = apply(original(program), sites[:1])
        before = Loaded(program).instance()(*call.args)
        after = Loaded(variant.program).instance()(*call.args)
        problem = compare_values(rule, before, after, values)
        assert problem is None, f"{problem}\n{variant.program.source}\n  on {shown(values)}"


@pytest.mark.parametrize("rule", WRONG, ids=[r.name for r in WRONG])
def test_wrong_rules_are_caught(rule: Rule) -> None:
    assert any(_caught(rule, values, i) for i, values in enumerate(draws(rule))), f"{rule.name} passes for a rule"


def _caught(rule: Rule, values: dict[str, Any], seed: int) -> bool:
    try:
        return disagreement(rule, values, seed) is not None
    except (RuntimeError, TypeError):  # the right side does not take what the left side took
        return True


def test_many_rules_in_many_families() -> None:
    assert len(RULES) >= 300
    assert len({r.family for r in RULES}) >= 10


def test_names_are_unique_and_documented() -> None:
    names = [r.name for r in RULES]
    assert len(names) == len(set(names))
    for rule in RULES:
        assert rule.doc.strip().endswith("."), f"{rule.name} has no docstring of whole sentences"
        assert rule.source, rule.name


def test_the_ten_rewrites_of_the_paper_are_there() -> None:
    by_name = {r.name.removeprefix("operators/"): r for r in RULES}
    for name in PAPER:
        assert "Jin & Wan" in by_name[name].source, name


def test_drawing_is_deterministic() -> None:
    for rule in RULES[::29]:
        first, second = (draw(rule, random.Random(11)) for _ in range(2))
        assert first is not None and second is not None
        for name, value in first.items():
            other = second[name]
            if isinstance(value, torch.Tensor):
                assert value.stride() == other.stride() and value.dtype == other.dtype
                assert same_bits(value.detach(), other.detach())
            else:
                assert value == other


def test_operands_cover_what_goes_wrong() -> None:
    """Large, empty, 0-d, strided, broadcast and special operands are all among the draws of a rule without guards."""
    rule = next(r for r in RULES if r.name == "operators/add_function")
    pairs = [v for v in (draw(rule, random.Random(i)) for i in range(400)) if v is not None]
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


def program_of(expression: str, parameters: list[str]) -> Program:
    source = (
        "import math\nimport operator\n\nimport torch\nimport torch.nn.functional as F\n\n\n"
        f"def program({', '.join(parameters)}):\n    return {expression}\n"
    )
    return Program("the rule's left side", source, Format.EQFUZZ, "program", "program", "None")


def shown(values: dict[str, Any]) -> str:
    def one(value: Any) -> str:
        if not isinstance(value, torch.Tensor):
            return repr(value)
        few = f" {value.tolist()}" if value.numel() <= 6 else ""
        return f"{value.dtype}{list(value.shape)} strides {list(value.stride())}{few}"

    return ", ".join(f"{name} = {one(value)}" for name, value in values.items())
