"""Forms of calls and operators: what each call becomes, and which calls are not of torch or ambiguous."""

from __future__ import annotations

import libcst as cst
import pytest
import torch

from eqfuzz.rewrite.calls.operators import names_of, operator_at
from eqfuzz.rewrite.calls.readings import method_path, read
from eqfuzz.rewrite.proof.example import examples_of
from eqfuzz.rewrite.proof.form_examples import has_method, samples
from eqfuzz.rewrite.rules.equation import path_of
from eqfuzz.rewrite.rules.library import shipped_rules
from eqfuzz.rewrite.rules.selection import select
from eqfuzz.rewrite.source.syntax import Syntax
from tests.rules.rewriting import X, Y, found_in, misses_in, reasons_in, variants_of

FORMS = [r.name for r in shipped_rules() if r.family in ("forms", "operator-forms")]


def written(expression: str, rules: str, *args: object) -> list[str]:
    """What the program's result becomes; every variant agrees with the original."""
    names = ", ".join("xyz"[: len(args or (X, Y))])
    texts = variants_of(f"def program({names}):\n    return {expression}\n", rules, *args)
    return [text.partition("return ")[2].strip() for text in texts]


@pytest.mark.parametrize(
    ("expression", "rule", "wanted"),
    [
        ("torch.sin(x)", "forms/function_is_method", "x.sin()"),
        ("torch.sum(x + y, 1)", "forms/function_is_method", "(x + y).sum(1)"),
        ("torch.where(x > 0, x, y)", "forms/function_is_method", "x.where(x > 0, y)"),
        ("torch.add(input=x, other=y, alpha=2)", "forms/function_is_method", "x.add(other=y, alpha=2)"),
        ("torch.sin(x)", "forms/function_is_method", "torch.Tensor.sin(x)"),
        ("x.sum(1)", "forms/method_is_function", "torch.sum(x, 1)"),
        ("x.permute(1, 0)", "forms/method_is_function", "torch.permute(x, (1, 0))"),
        ("x.where(x > y, y)", "forms/method_is_function", "torch.where(x > y, x, y)"),
        ("x.clamp(max=1)", "forms/method_is_function", "torch.clamp(x, max=1)"),
        ("torch.sum(x, 1, True)", "forms/by_keyword", "torch.sum(x, 1, keepdim=True)"),
        ("torch.sum(x, 1, True)", "forms/by_keyword", "torch.sum(input=x, dim=1, keepdim=True)"),
        ("x.permute(1, 0)", "forms/by_keyword", "x.permute(dims=(1, 0))"),
        ("F.softmax(x, 1)", "forms/by_keyword", "F.softmax(input=x, dim=1)"),
        ("torch.sum(x, keepdim=True, dim=1)", "forms/by_position", "torch.sum(x, 1, True)"),
        ("x.sum(axis=0)", "forms/by_position", "x.sum(0)"),
        ("torch.max(x, dim=1)[0]", "forms/by_position", "torch.max(x, 1)[0]"),
        ("x.sum(1)", "forms/default_written", "x.sum(1, keepdim=False)"),
        ("x.sum(1)", "forms/default_written", "x.sum(1, dtype=None)"),
        ("F.gelu(x)", "forms/default_written", "F.gelu(x, approximate='none')"),
        ("torch.absolute(x)", "forms/other_name", "torch.abs(x)"),
        ("x.clip(-1, 1)", "forms/other_name", "x.clamp(-1, 1)"),
        ("torch.cat((x, y), dim=1)", "forms/other_name", "torch.concat((x, y), dim=1)"),
        ("x.swapaxes(0, 1)", "forms/other_name", "x.transpose(0, 1)"),
        ("torch.swapaxes(x, axis0=0, axis1=1)", "forms/other_name", "torch.transpose(x, dim0=0, dim1=1)"),
        ("F.softmax(x, dim=1)", "forms/other_name", "torch.softmax(x, dim=1)"),
        ("torch.lgamma(x)", "forms/other_name", "torch.special.gammaln(x)"),
        ("torch.sin(x)", "forms/called_as_overload", "torch.ops.aten.sin.default(x)"),
        ("x.sum(1)", "forms/called_as_overload", "torch.ops.aten.sum.dim_IntList(x, (1,))"),
        ("torch.roll(x, 1, dims=0)", "forms/called_as_overload", "torch.ops.aten.roll.default(x, (1,), dims=(0,))"),
        ("x.mul(2)", "forms/called_as_overload", "torch.ops.aten.mul.Scalar(x, 2)"),
        ("x.mul(y)", "forms/called_as_overload", "torch.ops.aten.mul.Tensor(x, y)"),
        ("F.linear(input=x, weight=y)", "forms/called_as_overload", "torch.ops.aten.linear.default(input=x, weight=y)"),
        ("torch.Tensor.where(x, x > y, y)", "forms/called_as_overload", "torch.ops.aten.where.self(x > y, x, y)"),
        ("torch.Tensor.where(x, x > y, y)", "forms/by_keyword", "torch.Tensor.where(x, condition=x > y, other=y)"),
        ("torch.Tensor.sum(x, dim=1)", "forms/by_position", "torch.Tensor.sum(x, 1)"),
        ("torch.Tensor.permute(x, 1, 0)", "forms/function_is_method", "x.permute((1, 0))"),
        ("torch.split(x, 2)[0]", "forms/other_name", "torch.Tensor.split(x, 2)[0]"),
        ("torch.exp(x)", "forms/in_place_on_a_copy", "x.clone().exp_()"),
        ("torch.add(x, y, alpha=2)", "forms/in_place_on_a_copy", "x.clone().add_(y, alpha=2)"),
        ("torch.exp(x * y)", "forms/in_place_on_a_temporary", "(x * y).exp_()"),
        ("torch.exp(x)", "forms/into_out", "torch.exp(x, out=torch.empty_like(x))"),
        ("x.sum(1)", "forms/into_out", "torch.sum(x, 1, out=x.new_empty((2,), dtype=torch.float32))"),
        ("torch.exp(x)", "forms/in_a_list_of_one", "torch._foreach_exp([x])[0]"),
        ("x - 2", "operator-forms/binary_by_operator_module", "operator.sub(x, 2)"),
        ("x <= y", "operator-forms/binary_by_operator_module", "operator.le(x, y)"),
        ("~(x > y)", "operator-forms/unary_by_operator_module", "operator.invert(x > y)"),
        ("x / y", "operator-forms/binary_by_dunder", "x.__truediv__(y)"),
        ("2 - x", "operator-forms/number_by_reflected_dunder", "x.__rsub__(2)"),
        ("-x * 2", "operator-forms/unary_by_dunder", "x.__neg__() * 2"),
        ("x.__add__(y) * 2", "operator-forms/from_dunder", "(x + y) * 2"),
        ("x.__neg__() ** 2", "operator-forms/from_dunder", "(-x) ** 2"),
        ("x * y", "operator-forms/augmented_copy", "operator.imul(x.clone(), y)"),
        ("x - y - 1", "operator-forms/chain_by_reduce", "functools.reduce(operator.sub, [x, y, 1])"),
        ("x + y + 1", "operator-forms/chain_by_sum", "sum((y, 1), x)"),
        ("x * 2", "operator-forms/binary_in_lists_of_one", "torch._foreach_mul([x], 2)[0]"),
    ],
)
def test_rule_writes_the_call_in_the_other_form(expression: str, rule: str, wanted: str) -> None:
    texts = written(expression, rule)
    assert wanted in texts, texts


def test_call_of_operator_module_becomes_an_operator() -> None:
    source = "import operator\n\n\ndef program(x, y):\n    return operator.sub(x, y) * 2\n"
    assert "return (x - y) * 2" in variants_of(source, "operator-forms/from_operator_module")[0]


def test_augmented_assignments_are_rewritten_and_written() -> None:
    (text,) = variants_of("def program(x, y):\n    x = x.clone()\n    x -= y + 1\n    return x\n", "*/augmented_by*")
    assert "    x = operator.isub(x, y + 1)\n" in text
    texts = variants_of("def program(x, y):\n    return (x + y) * 2\n", "*/augmented_copy")
    assert any("    t1 = x.clone()\n    t1 += y\n    return (t1) * 2\n" in text for text in texts)


@pytest.mark.parametrize("name", FORMS)
def test_calls_on_other_objects_are_not_rewritten(name: str) -> None:
    """Other objects with methods of the same names, shadowed modules, calls of the program's own functions."""
    source = """
    class Other:
        def exp(self):
            return self

        def sum(self, dim=0):
            return dim

        def __add__(self, other):
            return other

    def relu(x):
        return x

    def program(x, y):
        torch = Other()
        other = Other()
        number = len([1]) + 1
        return torch.exp().sum(1), relu(x), other.sum(dim=2), other + 1, number - 1, [1] + [2], number > 1
    """
    assert variants_of(source, name) == []


IMPURE = "def program(x, y):\n    x = x.clone()\n    y = y.clone()\n    return {}\n"


@pytest.mark.parametrize(
    ("expression", "rule"),
    [
        ("torch.where(x.add_(1) > 0, x, y)", "forms/function_is_method"),
        ("x.where(x.add_(1) > 0, y)", "forms/method_is_function"),
        ("torch.sub(other=x.add_(1), input=x.mul_(2))", "forms/by_position"),
        ("torch.add(x, x.add_(1))", "forms/in_place_on_a_copy"),
        ("torch.add(x * 1, x.add_(1))", "forms/in_place_on_a_temporary"),
        ("torch.add(x, x.add_(1))", "forms/into_out"),
        ("x + x.add_(1)", "operator-forms/augmented_copy"),
        ("x + y + x.add_(1)", "operator-forms/chain_by_reduce"),
        ("x + y + x.add_(1)", "operator-forms/chain_by_sum"),
    ],
)
def test_impure_arguments_are_not_reordered(expression: str, rule: str) -> None:
    assert "side effects" in misses_in(IMPURE.format(expression), rule, X, Y)


@pytest.mark.parametrize(
    ("expression", "rule"),
    [
        ("torch.sub(x.mul_(2), x.add_(1))", "forms/function_is_method"),
        ("x.mul_(2).sub(x.add_(1))", "forms/method_is_function"),
        ("torch.sub(x.mul_(2), x.add_(1))", "forms/by_keyword"),
        ("torch.sub(input=x.mul_(2), other=x.add_(1))", "forms/by_position"),
        ("torch.sub(x.mul_(2), x.add_(1))", "forms/called_as_overload"),
        ("x.mul_(2) - x.add_(1)", "operator-forms/binary_by_operator_module"),
    ],
)
def test_call_is_rewritten_where_impure_arguments_keep_their_order(expression: str, rule: str) -> None:
    assert variants_of(IMPURE.format(expression), rule, X, Y)


@pytest.mark.parametrize(
    ("expression", "rule", "reason"),
    [
        ("torch.exp(x.long())", "forms/in_place_on_a_copy", "cannot hold"),
        ("torch.add(x[0], y)", "forms/in_place_on_a_copy", "cannot hold"),
        ("torch.exp(x[:, ::2])", "forms/in_place_on_a_copy", "other strides"),
        ("torch.exp(x + 0j)", "forms/in_place_on_a_copy", "conjugated lazily"),
        ("torch.exp(x.t())", "forms/into_out", "no operand is a name"),
        ("torch.sum(*(x, 1))", "forms/by_keyword", "starred"),
        ("torch.sum(x, 1, out=torch.empty(2))", "forms/by_keyword", "no signature of torch.sum fits"),
        ("torch.pow(2, x)", "forms/function_is_method", "not called on a tensor"),
        ("(x > 0) + (y > 0)", "operator-forms/binary_in_lists_of_one", "real numbers"),
    ],
)
def test_refused_call_has_its_reason(expression: str, rule: str, reason: str) -> None:
    assert reason in misses_in(f"def program(x, y):\n    return {expression}\n", rule)


def test_writing_forms_are_refused_where_autograd_forbids_them() -> None:
    leaf = X.clone().requires_grad_()
    assert "autograd" in reasons_in("def program(x, y):\n    return torch.exp(x)\n", "forms/into_out", leaf, Y)
    source = "def program(x, y):\n    return torch.exp(x * y)\n"
    assert "autograd" in reasons_in(source, "forms/in_place_on_a_temporary", leaf, Y)
    assert written("torch.exp(x)", "forms/in_place_on_a_copy", leaf, Y) == ["x.clone().exp_()"]
    source = "def program(x, y):\n    return torch.ge(y > 0, x)\n"
    assert "not the result" in reasons_in(source, "forms/in_place_on_a_copy", leaf, Y)
    source = "def program(x, y):\n    return torch.asinh(x)\n"
    assert "no gradient" in reasons_in(source, "forms/in_place_on_a_copy", leaf, Y)
    source = "def program(x, y):\n    with torch.no_grad():\n        return torch.exp(x)\n"
    assert variants_of(source, "forms/into_out", leaf, Y)


@pytest.mark.parametrize(
    ("expression", "rule"),
    [("x + y", "operator-forms/binary_in_lists_of_one"), ("torch.neg(y)", "forms/in_a_list_of_one")],
)
def test_foreach_operands_are_not_written_to_before_backward(expression: str, rule: str) -> None:
    leaf = X.clone().requires_grad_()
    source = f"def program(x, y):\n    y = torch.mul(y, x)\n    z = {expression}\n    {{}}\n    return z\n"
    assert variants_of(source.format("y.sum()"), rule, leaf, Y)
    assert "written to before" in reasons_in(source.format("y.mul_(2)"), rule, leaf, Y)
    assert variants_of(source.format("y.mul_(2)"), rule, X, Y)


def test_in_place_forms_are_refused_under_autocast() -> None:
    source = """
    def program(x, y):
        with torch.autocast("cpu", torch.bfloat16):
            return torch.exp(x)
    """
    for rule in ("forms/in_place_on_a_copy", "forms/into_out"):
        assert "autocast" in reasons_in(source, rule)


def test_result_that_is_read_as_a_named_tuple_is_not_called_as_overload() -> None:
    assert written("torch.max(x, 1).values", "forms/called_as_overload") == []
    assert "x.max(1).values" in written("torch.max(x, 1).values", "forms/function_is_method")


def test_facts_choose_the_signature() -> None:
    assert written("torch.max(x, y)", "forms/by_keyword") == [
        "torch.max(x, other=y)",
        "torch.max(input=x, other=y)",
    ]
    assert "torch.max(x, dim=1)[0]" in written("torch.max(x, 1)[0]", "forms/by_keyword")


def test_ambiguous_call_is_not_rewritten() -> None:
    source = "def program(x, y):\n    return [torch.max(x, other) for other in (y, 1)]\n"
    assert "no signature" in reasons_in(source, "forms/by_keyword")


def test_rule_is_refused_where_the_name_it_would_write_is_shadowed() -> None:
    source = "def program(operator, y):\n    return operator + y\n"
    assert "operator means something else" in reasons_in(source, "operator-forms/binary_by_operator_module")
    source = "def sum(x):\n    return x\n\n\ndef program(x, y):\n    return x + y + 1\n"
    assert "sum means something else" in reasons_in(source, "operator-forms/chain_by_sum")


def test_unbound_method_gets_its_tensor_by_position() -> None:
    assert written("torch.Tensor.relu(x)", "forms/by_keyword") == []
    assert all(
        "torch.Tensor" not in text
        for text in written("torch.split(tensor=x, dim=1, split_size_or_sections=2)", "forms/other_name")
    )


def test_dropouts_are_not_aliases_of_each_other() -> None:
    torch_names = written("F.dropout(x, 0.5, True)", "forms/other_name")
    assert torch_names == ["torch.dropout(x, 0.5, True)"]


def test_default_that_differs_between_schema_and_python_is_not_written() -> None:
    """The schema's default reduction is not what the Python function does by default."""
    assert found_in("def program(x, y):\n    return torch.kl_div(x, y)\n", "forms/default_written", X, Y.softmax(1))
    assert written("torch.kl_div(x, y)", "forms/default_written", X, Y.softmax(1)) == []


def test_each_form_has_a_minimum_number_of_operators() -> None:
    rules = {r.name: r for r in select(shipped_rules(), "forms/*")}
    least = {
        "forms/function_is_method": 150,
        "forms/method_is_function": 150,
        "forms/by_keyword": 250,
        "forms/by_position": 100,
        "forms/default_written": 250,
        "forms/called_as_overload": 250,
        "forms/in_place_on_a_copy": 80,
        "forms/in_place_on_a_temporary": 80,
        "forms/into_out": 150,
        "forms/other_name": 40,
        "forms/in_a_list_of_one": 30,
    }
    assert least.keys() == rules.keys()
    for name, count in least.items():
        assert len(examples_of(rules[name])) >= count, name
    assert torch.get_default_dtype() is torch.float32


def readings_of(program: str) -> dict[str, dict[str, str]]:
    """Overload → parameter → text, for the call that the program returns."""
    syntax = Syntax("import torch\nimport torch.nn.functional as F\n" + program)
    (call,) = (e.node for e in syntax.expressions if isinstance(e.node, cst.Call))
    path, receiver = path_of(call.func, syntax.imports), None
    if path is None:
        assert isinstance(call.func, cst.Attribute)
        path, receiver = method_path(call.func.attr.value), call.func.value
    readings = read(path, call.args, receiver)
    return {
        r.overload: {
            name: value[0].value if isinstance(value, tuple) else syntax.text_of(value)  # type: ignore[attr-defined]
            for name, value in r.values.items()
        }
        for r in readings
    }


@pytest.mark.slow
def test_every_form_of_a_call_is_resolved_to_the_same_overload() -> None:
    for sample in samples():
        as_function = readings_of(sample.function())
        assert sample.signature.overload in as_function, sample.function()
        # A name says which of several overloads is meant, a place does not: it has fewer readings.
        by_name = readings_of(sample.by_keyword())
        assert by_name.items() <= as_function.items(), sample.by_keyword()
        assert sample.signature.overload in by_name
        if has_method(sample) and sample.names[0] == "input":
            assert readings_of(sample.method()) == as_function, sample.method()


def test_every_alias_is_resolved_to_the_same_overload() -> None:
    for sample in samples():
        wanted = readings_of(sample.function())[sample.signature.overload]
        for name in names_of(sample.operator.path)[1:]:
            other = operator_at(name)
            assert other is not None
            if other.is_method or not any(len(sample.names) <= len(s.positional) for s in other.signatures):
                continue
            text = sample.function().replace(sample.operator.path.replace("torch.nn.functional.", "F."), name)
            assert readings_of(text).get(sample.signature.overload) == wanted, text
