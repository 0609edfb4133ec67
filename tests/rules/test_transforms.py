"""Rules with functions on their right sides: what may be written inside them, and what keeps them out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
import torch

from eqfuzz.program.call import Call
from eqfuzz.program.program import Program, SeedFormat
from eqfuzz.rewrite.facts.probe import take_facts
from eqfuzz.rewrite.rules.library import load_rules
from eqfuzz.rewrite.rules.rule import Rule
from eqfuzz.rewrite.site import NearMiss, find_sites
from eqfuzz.rewrite.source.syntax import Syntax
from tests.rules.matching import HEADER, X, Y, reasons_in, sites_in, texts, variants


@pytest.mark.parametrize(
    ("rule", "own"), [("transforms/product_by_jvp", "t"), ("transforms/vmap_product_with_row", "row")]
)
@pytest.mark.parametrize("name", ["t", "row"])
def test_rule_is_refused_where_its_own_variable_would_capture_an_operand(rule: str, own: str, name: str) -> None:
    source = f"{HEADER}def program(x, {name}):\n    return x * {name}.cos()\n"
    y = Y[0] if own == "row" else Y
    assert bool(variants(source, rule, X, y)) == (name != own)
    assert any("a name" in r for r in reasons_in(source, rule, X, y)) == (name == own)


def test_an_impure_operand_is_not_put_inside_a_function() -> None:
    source = HEADER + "def program(x, y):\n    return x * y.add_(1)\n"
    assert sites_in(source, "transforms/product_by_jvp", X, Y.clone()) == []
    assert "side effects" in " ".join(reasons_in(source, "transforms/product_by_jvp", X, Y.clone()))


def rules_of(folder: Path, text: str) -> Sequence[Rule]:
    (folder / "closures.py").write_text(f"import torch\n\nfrom eqfuzz.rewrite.rules.rule import rule\n\n\n{text}")
    return load_rules(folder)


@pytest.mark.parametrize(
    ("right", "expression", "reason"),
    [
        ("(lambda: x + x)()", "y.cos().exp()", "stored inside a function"),
        ("[x * 2 for _ in range(1)][0]", "y.add_(1).exp()", "side effects"),
        ("[x * i for i in (2,)][0]", "i.exp()", "a name i of its own"),
        ("[i + 1 for i in (x,)][0]", "i.cos().exp()", ""),
        ("(lambda: x + x)()", "y.exp()", ""),
    ],
)
def test_operand_is_moved_into_a_function_only_if_its_value_stays_the_same(
    tmp_path: Path, right: str, expression: str, reason: str
) -> None:
    text = f'@rule(exact=\'bitwise\')\ndef doubled(x):\n    """Twice."""\n    return torch.exp(x), {right}\n'
    source = f"{HEADER}def program(y, i):\n    return {expression}\n"
    syntax = Syntax(source)
    program = Program("test", source, SeedFormat.EQFUZZ, "program", "program", "None")
    facts = take_facts(program, syntax, [Call((Y.clone(), X.clone()), {})])
    (place,) = find_sites(syntax, facts, rules_of(tmp_path, text))
    assert isinstance(place, NearMiss) == bool(reason)
    if isinstance(place, NearMiss):
        assert reason in place.reason


def test_iterable_of_a_comprehension_may_have_the_name_of_its_variable() -> None:
    source = HEADER + "def program(c, y):\n    return torch.exp(c)\n"
    assert len(variants(source, "layout/exponential_in_chunks", X, Y)) == 1


@pytest.mark.parametrize("operand", [torch.tensor(1.5), torch.ones(0, 3), torch.arange(3)])
def test_scalars_empty_and_integer_tensors_are_not_mapped(operand: torch.Tensor) -> None:
    assert texts("torch.sin(x)", "transforms/vmap_of_function", operand) == []


def test_only_one_plain_operand_is_mapped() -> None:
    assert texts("torch.sin(x)", "transforms/vmap_of_function", X) == ["torch.vmap(torch.sin)(x)"]
    assert texts("torch.sin(x, out=y)", "transforms/vmap_of_function", X, Y) == []
    assert texts("torch.sin(input=x)", "transforms/vmap_of_function", X) == []
    assert texts("x.sin()", "transforms/vmap_of_function", X) == []


def test_tensors_inside_a_function_transform_are_left_alone() -> None:
    source = HEADER + "def program(x):\n    return torch.func.grad(lambda t: torch.sin(t).sum())(x)\n"
    assert sites_in(source, "transforms/*", X) == []


def test_functions_under_vmap_are_not_mapped_again() -> None:
    source = HEADER + "def program(x):\n    return torch.vmap(lambda r: torch.sin(r) * 2)(x)\n"
    assert not [s for s in sites_in(source, "transforms/*", X) if "sin(r)" in s.before]


def test_broadcast_products_are_not_mapped() -> None:
    assert texts("x * y", "transforms/vmap_product", X, Y[:1]) == []
    assert texts("x * y", "transforms/vmap_product_with_row", X, Y) == []
    assert texts("x * y", "transforms/vmap_product_with_row", X, Y[0]) == ["torch.vmap(lambda row: row * y)(x)"]
