"""Matching a left side in program text, and writing a right side into it."""

from __future__ import annotations

import ast
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings

from eqfuzz.program.program import Program, SeedFormat
from eqfuzz.rewrite.derivation import apply, original
from eqfuzz.rewrite.facts.probe import Facts
from eqfuzz.rewrite.rules.library import load_rules, shipped_rules
from eqfuzz.rewrite.rules.rule import RuleError
from eqfuzz.rewrite.rules.selection import select
from eqfuzz.rewrite.site import find_sites
from eqfuzz.rewrite.source.syntax import Syntax
from tests.rules.matching import HEADER, X, Y, reasons_in, sites_in, texts, variants


@pytest.mark.parametrize(
    "expression",
    [
        "torch.relu(x)",
        "F.relu(x)",
        "x.relu()",
        "torch.nn.functional.relu(x)",
        "torch.relu( x )",
        "torch.relu(input=x)",
        "F.relu(x, inplace=False)",
        "torch.Tensor.relu(x)",
        "torch.ops.aten.relu.default(x)",
    ],
)
def test_rule_matches_every_form_of_a_call(expression: str) -> None:
    assert texts(expression, "activations/relu_is_maximum", X) == ["torch.maximum(x, torch.zeros_like(x))"]


@pytest.mark.parametrize(
    "header",
    [
        "import torch as th\n",
        "from torch import relu\n",
        "from torch.nn import functional as nnf\n",
        "import torch\nfrom torch import nn\n",
    ],
)
def test_imports_under_other_names_are_resolved_and_used(header: str) -> None:
    call = {"th": "th.relu(x)", "re": "relu(x)", "nnf": "nnf.relu(x)", "nn": "nn.functional.relu(x)"}
    form = next(v for k, v in call.items() if f"import {k}" in header or f"as {k}" in header)
    source = f"{header}def program(x):\n    return {form}\n"
    (text,) = variants(source, "activations/relu_is_threshold", X)
    ast.parse(text)
    assert "threshold" in text


def test_a_missing_import_is_added_behind_docstring_and_future() -> None:
    source = '"""A seed."""\nfrom __future__ import annotations\n\nimport torch\n\ndef program(x):\n    return x + 1\n'
    (text,) = variants(source, "operators/add_operator_module", X)
    lines = text.splitlines()
    assert lines[:3] == ['"""A seed."""', "from __future__ import annotations", "import operator"]
    assert "return operator.add(x, 1)" in text


def test_no_rewrite_where_the_import_would_clash() -> None:
    source = "import torch\ndef program(x, operator):\n    return x + operator\n"
    assert sites_in(source, "operators/add_operator_module", X, Y) == []
    assert any("operator means something else" in r for r in reasons_in(source, "operators/add_operator_module", X, Y))


def test_call_on_a_local_name_that_shadows_a_module_does_not_match() -> None:
    source = "import torch\nclass Other:\n    def relu(self, x):\n        return x\n\n\ndef program(x):\n"
    source += "    torch = Other()\n    return torch.relu(x)\n"
    assert sites_in(source, "activations/relu_is_maximum", X) == []


def test_a_parameter_that_shadows_a_module_is_not_written() -> None:
    source = "import torch\ndef program(torch, y):\n    return torch + y\n"
    assert sites_in(source, "operators/add_function", X, Y) == []


def test_a_builtin_defined_by_the_seed_is_not_the_builtin() -> None:
    source = "import torch\ndef abs(x):\n    return x + 1\n\n\ndef program(x):\n    return abs(x)\n"
    assert sites_in(source, "operators/abs_function", X) == []
    source = "import torch\ndef sum(items, start):\n    return start\n\n\ndef program(x, y):\n    return x + y\n"
    assert sites_in(source, "operators/add_builtin_sum", X, Y) == []


@pytest.mark.parametrize(
    "expression",
    [
        "x.sum(1)",
        "x.sum(dim=1)",
        "torch.sum(x, 1)",
        "torch.sum(x, dim=1)",
        "torch.sum(input=x, dim=1)",
        "x.sum(axis=1)",
    ],
)
def test_positional_and_keyword_arguments_match_alike(expression: str) -> None:
    assert texts(expression, "reductions/sum_by_einsum", X) == ["torch.einsum('ij->i', torch.movedim(x, 1, 1))"]


@pytest.mark.parametrize(
    "expression", ["x.sum(1, False)", "x.sum(dim=1, keepdim=False)", "torch.sum(x, 1, dtype=None)"]
)
def test_arguments_equal_to_the_default_may_be_left_out(expression: str) -> None:
    assert texts(expression, "reductions/sum_by_einsum", X) == ["torch.einsum('ij->i', torch.movedim(x, 1, 1))"]


@pytest.mark.parametrize(
    "expression",
    [
        "torch.swapaxes(x, axis0=0, axis1=1)",
        "x.swapdims(dim0=0, dim1=1)",
        "x.transpose(0, 1)",
        "torch.Tensor.swapaxes(x, 0, 1)",
    ],
)
def test_parameters_have_other_names_in_other_functions(expression: str) -> None:
    rewritten = texts(expression, "layout/transpose_in_full", X)
    assert rewritten == texts("torch.transpose(x, 0, 1)", "layout/transpose_in_full", X) != []


@pytest.mark.parametrize(
    "expression",
    ["x.permute(0, 2, 1)", "x.permute([0, 2, 1])", "torch.permute(x, (0, 2, 1))", "x.permute(dims=(0, 2, 1))"],
)
def test_items_of_a_list_may_be_passed_one_by_one(expression: str) -> None:
    assert texts(expression, "shapes/permute_is_transpose", X[None]) == ["torch.transpose(x, 1, 2)"]


def test_ambiguous_call_is_matched_by_the_facts_of_its_arguments() -> None:
    rule = "reductions/deviation_is_root_of_variance"
    assert len(texts("torch.std(x, 1)", rule, X)) == len(texts("x.std(dim=1, unbiased=True)", rule, X)) == 1
    assert texts("torch.std(x, False)", rule, X) == texts("torch.std(x, 1, False)", rule, X) == []
    assert texts("torch.max(x, y)", "reductions/max_all_is_amax_back", X, Y) == []


def test_a_number_is_not_the_empty_list_of_all_dimensions() -> None:
    assert texts("x.amax()", "reductions/max_all_is_amax_back", X) == ["torch.max(x)"]
    assert texts("x.amax(())", "reductions/max_all_is_amax_back", X) == ["torch.max(x)"]
    assert texts("x.amax(1)", "reductions/max_all_is_amax_back", X) == []


@pytest.mark.parametrize(
    "expression",
    [
        "torch.relu(x, out=y)",
        "F.relu(x, inplace=True)",
        "torch.relu(*[x])",
        "torch.relu()",
        "torch.relu(x, y)",
        "x.relu_()",
    ],
)
def test_calls_with_other_arguments_or_effects_do_not_match(expression: str) -> None:
    source = f"{HEADER}def program(x, y):\n    return {expression} if x is None else y\n"
    places = list(find_sites(Syntax(source), Facts({}), select(shipped_rules(), "activations/relu_is_maximum")))
    assert places == []


@pytest.mark.parametrize("expression", ["x.sum()", "x.sum(1, True)", "x.sum((0, 1))", "x.sum(dim=1, keepdim=True)"])
def test_call_with_other_argument_values_does_not_match(expression: str) -> None:
    assert texts(expression, "reductions/sum_by_einsum", X) == []


def test_a_default_may_be_bound_without_being_written() -> None:
    (text,) = texts("torch.stack([x, y])", "shapes/stack_is_cat", X, Y)
    assert text == "torch.cat((x.unsqueeze(0), y.unsqueeze(0)), dim=0)"


def test_lists_match_tuples() -> None:
    for expression in ("torch.cat([x, y], 1)", "torch.cat((x, y), dim=1)", "torch.concat([x, y], 1)"):
        assert texts(expression, "shapes/cat_is_hstack", X, Y) == ["torch.hstack((x, y))"]


def test_starred_arguments_are_left_alone() -> None:
    source = HEADER + "def program(x, y):\n    pair = (x, y)\n    return torch.add(*pair)\n"
    assert sites_in(source, "operators/add_function_back", X, Y) == []


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        ("-(x + y)", "torch.add(x, y)"),
        ("(x + y) * 2", "torch.add(x, y)"),
        ("(x + y).sum()", "torch.add(x, y)"),
        ("(x + y)[0]", "torch.add(x, y)"),
    ],
)
def test_parentheses_are_kept_or_not_needed(expression: str, wanted: str) -> None:
    source = f"{HEADER}def program(x, y):\n    return {expression}\n"
    (text,) = variants(source, "operators/add_function", X, Y)
    assert wanted in text


@pytest.mark.parametrize(
    "expression", ["torch.add(x, y) * 2", "-torch.add(x, y)", "torch.add(x, y)[0]", "torch.add(x, y).sum()"]
)
def test_parentheses_are_added_around_a_new_operator(expression: str) -> None:
    source = f"{HEADER}def program(x, y):\n    return {expression}\n"
    (text,) = variants(source, "operators/add_function_back", X, Y)
    assert "(x + y)" in text


def test_operands_keep_their_precedence() -> None:
    for source in ("torch.mul(x + y, y)", "torch.mul(-x, y if y is x else x)", "torch.mul(x, y - x)"):
        program = f"{HEADER}def program(x, y):\n    return {source}\n"
        (text,) = variants(program, "operators/mul_function_back", X, Y)
        ast.parse(text)


def test_a_repeated_operand_gets_one_temporary() -> None:
    source = HEADER + "def program(x, y):\n    t1 = x\n    return (t1 * y).exp() ** 2\n"
    (text,) = variants(source, "algebra/square_is_product", X, Y)
    assert "(t2 := (t1 * y).exp()) * t2" in text


def test_names_and_numbers_need_no_temporary() -> None:
    assert texts("x ** 2", "algebra/square_is_product", X) == ["x * x"]


def test_temporaries_work_in_comprehensions_and_lambdas() -> None:
    source = HEADER + "def program(x):\n    return [(r + 1) ** 2 for r in x], (lambda z: (z - 1) ** 2)(x)\n"
    sources = variants(source, "algebra/square_is_product", X)
    assert len(sources) == 2


def test_a_temporary_is_refused_where_python_forbids_it() -> None:
    source = HEADER + "def program(x):\n    return [r for r in (x + 1) ** 2]\n"
    from eqfuzz.rewrite.derivation import CannotRewrite

    program = Program("test", source, SeedFormat.EQFUZZ, "program", "program", "None")
    (site,) = sites_in(source, "algebra/square_is_product", X)
    with pytest.raises(CannotRewrite, match="algebra/square_is_product"):
        apply(original(program), [site])


@pytest.mark.parametrize(
    "operand",
    ["torch.rand(2, 3)", "helper(x)", "x.add_(1)", "items.pop()", "F.dropout(x, 0.5)", "torch.exp(x, out=y)"],
)
def test_impure_operands_keep_their_order(operand: str) -> None:
    source = (
        f"{HEADER}def helper(x):\n    return x\n\n\ndef program(x, y):\n    items = [x, y]\n    return {operand} > y\n"
    )
    reasons = reasons_in(source, "comparison/greater_flips", X.clone(), Y.clone())
    assert any("side effects" in r for r in reasons)
    assert len(sites_in(source, "operators/gt_function", X.clone(), Y.clone())) == 1


def test_an_impure_operand_is_not_put_between_reading_and_computing() -> None:
    """``x + x.add_(1)`` adds the changed ``x``; ``x.clone().add_(x.add_(1))`` would add the old one."""
    source = HEADER + "def program(x):\n    return x + x.add_(1)\n"
    assert sites_in(source, "operators/add_in_place", X.clone()) == []
    assert len(variants(source, "operators/add_function", X.clone())) == 1


def test_conditional_right_sides_are_refused(tmp_path: Path) -> None:
    text = "from eqfuzz.rewrite.rules.rule import rule\n\n@rule(exact='bitwise')\ndef either(x):\n"
    text += "    return -x, x if x is None else -x\n"
    (tmp_path / "conditional.py").write_text(text)
    with pytest.raises(RuleError, match="conditional/either: the right side"):
        load_rules(tmp_path)


def test_pure_operands_may_change_places() -> None:
    assert texts("x.exp() > y", "comparison/greater_flips", X, Y) == ["y < x.exp()"]


def test_keywords_out_of_order_are_left_alone() -> None:
    assert texts("torch.sum(dim=1, input=x)", "reductions/sum_by_einsum", X) == []


def test_rewritten_multi_line_expression_parses() -> None:
    source = HEADER + (
        "def program(x, y):\n"
        "    total = (\n        x  # the left one\n        + y\n    )\n"
        "    return torch.add(\n        total,\n        y\n        .exp(),\n    )\n"
    )
    assert len(variants(source, "operators/add_function", X, Y)) == 1
    (text,) = variants(source, "operators/add_function_back", X, Y)
    ast.parse(text)


def test_site_has_line_and_text_beside_non_ascii_characters() -> None:
    source = HEADER + "def program(x, y):\n    # größer als früher → später\n    β = 'ü' and x\n    return (β + y)\n"
    (site,) = sites_in(source, "operators/add_function", X, Y)
    assert site.line == 6
    assert site.before == "β + y"
    assert site.text == "torch.add(β, y)"
    (text,) = variants(source, "operators/add_function", X, Y)
    assert text.replace("torch.add(β, y)", "β + y") == source


def test_tabs_and_windows_line_ends_are_kept() -> None:
    source = HEADER.replace("\n", "\r\n") + "def program(x, y):\r\n\tif True:\r\n\t\tz = x + y\r\n\treturn z\r\n"
    (text,) = variants(source, "operators/add_function", X, Y)
    assert "\t\tz = torch.add(x, y)\r\n" in text


def test_signatures_and_f_strings_are_not_rewritten() -> None:
    source = HEADER + (
        "def program(x, n=1 + 1, *, name: 'str' = 'a' + 'b'):\n"
        "    x[n - 1 + 0] = 0\n    x += 1\n    del n\n    return f'{1 + 1}', x\n"
    )
    for text in variants(source, "algebra,operators", X):
        assert "def program(x, n=1 + 1, *, name: 'str' = 'a' + 'b'):" in text
        assert "f'{1 + 1}'" in text


def test_chained_comparison_does_not_match_a_comparison_of_two() -> None:
    source = HEADER + "def program(x):\n    return bool((0 < x.sum() + 10 < 100))\n"
    assert sites_in(source, "comparison/less_flips,operators/lt_function", X) == []


def test_slice_matches_only_with_the_same_bounds_and_dimension() -> None:
    assert texts("x[1:]", "indexing/tail_is_narrow", X) == ["x.narrow(0, 1, x.shape[0] - 1)"]
    assert texts("x[:1]", "indexing/tail_is_narrow", X) == []
    assert texts("x[:1]", "indexing/head_is_narrow", X) == ["x.narrow(0, 0, 1)"]
    assert texts("x[:, 1:2]", "indexing/column_slice_is_narrow", X) == ["x.narrow(1, 1, 2 - 1)"]
    assert texts("x[1:2]", "indexing/column_slice_is_narrow", X) == []


def test_python_numbers_and_lists_are_not_tensors() -> None:
    source = HEADER + "def program(x):\n    n = 1\n    items = [1] + [2]\n    return x[n - 1 :], items, 2 ** n, n > 0\n"
    assert sites_in(source, "operators", X) == []


@pytest.mark.parametrize(
    "statement",
    ["x.requires_grad_()", "y = x is x", "x.grad", "torch.autograd.grad((x * x).sum(), x)", "id(x)", "type(x)"],
)
def test_an_equal_copy_does_not_stand_in_for_the_object_itself(statement: str) -> None:
    source = f"{HEADER}def program(x):\n    {statement}\n    return 1\n"
    operand = X.clone().requires_grad_() if "autograd" in statement else X.clone()
    sources = [s.before for s in sites_in(source, "algebra/times_one", operand)]
    assert "x" not in sources


def test_what_is_mutated_later_is_not_copied() -> None:
    source = HEADER + "def program(x):\n    row = x[0]\n    x.add_(1)\n    return row\n"
    assert {s.before for s in sites_in(source, "algebra/times_one", X.clone())} == {"x.add_(1)", "row"}
    assert "left unchanged" in " ".join(reasons_in(source, "algebra/times_one", X.clone()))


def test_rules_that_change_strides_are_refused_where_strides_are_read() -> None:
    source = HEADER + "def program(x, y):\n    return (x + y).view(-1)\n"
    assert sites_in(source, "layout/column_major", X, Y) == []
    assert "reads them (view)" in " ".join(reasons_in(source, "layout/column_major", X, Y))
    assert sites_in(source.replace("view(-1)", "reshape(-1)"), "layout/column_major", X, Y)


def test_preconditions_are_checked_for_every_visit() -> None:
    source = HEADER + "def program(x):\n    out = []\n    for t in (x, x.long()):\n        out.append(t / 1)\n"
    source += "        out.append(torch.exp(t))\n    return out\n"
    assert sites_in(source, "dtypes/exponential_in_double", X) == []
    assert any("int64" in r for r in reasons_in(source, "dtypes/exponential_in_double", X))


def test_code_that_did_not_run_is_not_rewritten() -> None:
    source = HEADER + "def program(x):\n    if x.ndim > 5:\n        return x + 1\n    return x * 2\n"
    assert any("did not run" in r for r in reasons_in(source, "operators/add_function", X))


OPERANDS = st.deferred(
    lambda: (
        st.sampled_from(["x", "y", "2", "0.5"])
        | st.tuples(OPERANDS, st.sampled_from(["+", "-", "*"]), OPERANDS).map(lambda t: f"({t[0]} {t[1]} {t[2]})")
        | st.tuples(OPERANDS, st.sampled_from(["+", "-", "*", "/ 3 -"]), OPERANDS).map(
            lambda t: f"{t[0]} {t[1]} {t[2]}"
        )
        | OPERANDS.map(lambda a: f"-({a})")
        | OPERANDS.map(lambda a: f"torch.exp(x - ({a})) * 0.1")
        | OPERANDS.map(lambda a: f"torch.add(x, {a})")
        | OPERANDS.map(lambda a: f"(\n    {a}\n)")
        | OPERANDS.map(lambda a: f"(x * ({a})) ** 2")
        | OPERANDS.map(lambda a: f"torch.relu(x + ({a}))")
    )
)


@given(expression=OPERANDS)
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
def test_every_variant_of_any_expression_computes_the_same(expression: str) -> None:
    """Precedence, parentheses and temporaries in expressions of any form."""
    source = f"{HEADER}def program(x, y):\n    return {expression}\n"
    variants(source, "operators,algebra/square*,algebra/sub_adds*,algebra/doubling*,activations/relu_is_*", X, Y)
