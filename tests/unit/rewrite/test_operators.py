"""The table of torch's operators, and the names that are one function."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
import torch

from eqfuzz.rewrite.calls import aliases
from eqfuzz.rewrite.calls.operators import REQUIRED, canonical, names_of, operator_at, takes_out
from eqfuzz.rewrite.proof.form_examples import has_in_place, has_method, has_out, samples


def names(path: str) -> list[list[str]]:
    operator = operator_at(path)
    assert operator is not None
    return [[p.name for p in s.parameters] for s in operator.signatures]


def test_a_function_has_the_overloads_of_its_operator() -> None:
    assert sorted(names("torch.sum")) == [["input", "dim", "keepdim", "dtype"], ["input", "dtype"]]
    assert ["input", "other"] in names("torch.max")
    assert ["input", "dim", "keepdim"] in names("torch.max")


def test_defaults_and_keyword_only_parameters_are_known() -> None:
    operator = operator_at("torch.add")
    assert operator is not None
    for signature in operator.signatures:
        alpha = signature.named("alpha")
        assert alpha is not None
        assert alpha.default == 1
        assert alpha.keyword_only  # the schema of add.Scalar says otherwise, Python does not
    (softmax,) = operator_at("torch.softmax").signatures  # type: ignore[union-attr]
    assert softmax.named("dim").default is REQUIRED
    assert softmax.named("dtype").default is None


def test_functions_in_python_have_their_own_parameters() -> None:
    assert names("torch.nn.functional.relu") == [["input", "inplace"]]
    assert names("torch.nn.functional.max_pool2d")[0][:2] == ["input", "kernel_size"]  # behind a dispatch on a bool


@pytest.mark.parametrize(
    "path", ["torch.nothing", "torch.Tensor", "torch.float32", "math.sqrt", "torch.zeros", "torch.Tensor.to", "torch"]
)
def test_functions_without_tensors_are_no_operators(path: str) -> None:
    assert operator_at(path) is None


def test_operator_has_its_function_method_and_in_place_form() -> None:
    operator = operator_at("torch.special.expit")
    assert operator is not None
    assert (operator.aten, operator.method, operator.function) == ("special_expit", "", "torch.special.expit")
    operator = operator_at("torch.Tensor.exp")
    assert operator is not None
    assert (operator.function, operator.in_place, operator.is_method) == ("torch.exp", "exp_", True)


def test_views_and_writes_are_not_fresh() -> None:
    fresh = {path: operator_at(path).signatures[0].fresh for path in ("torch.exp", "torch.t", "torch.Tensor.add_")}  # type: ignore[union-attr]
    assert fresh == {"torch.exp": True, "torch.t": False, "torch.Tensor.add_": False}


def test_out_variants_are_detected_by_calling() -> None:
    one = frozenset({("input", "Tensor")})
    assert takes_out("torch.exp", one)
    assert not takes_out("torch.relu", one)  # there is such an overload, and no such binding
    assert not takes_out("torch.where", frozenset({("condition", "Tensor"), ("input", "Tensor"), ("other", "Scalar")}))


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("torch.absolute", "torch.abs"),
        ("torch.clip", "torch.clamp"),
        ("torch.Tensor.concat", "torch.Tensor.concat"),  # no such method
        ("torch.concatenate", "torch.cat"),
        ("torch.swapdims", "torch.transpose"),
        ("torch.Tensor.swapaxes", "torch.transpose"),
        ("torch.nn.functional.relu", "torch.relu"),
        ("torch.special.gammaln", "torch.lgamma"),
        ("torch.ops.aten.exp.default", "torch.exp"),
        ("torch.nn.functional.conv2d", "torch.conv2d"),
        ("torch.Tensor.view", "torch.Tensor.view"),
    ],
)
def test_aliases_have_one_canonical_name(path: str, wanted: str) -> None:
    assert canonical(path) == wanted


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("torch.argsort", "torch.sort"),
        ("torch.column_stack", "torch.hstack"),
        ("torch.dropout", "torch.alpha_dropout"),
        ("torch.feature_dropout", "torch.dropout"),
        ("torch.Tensor.view_as", "torch.Tensor.reshape_as"),
        ("torch.positive", "torch.resolve_conj"),
        ("torch.isreal", "torch.isfinite"),
        ("torch.linalg.cross", "torch.cross"),
        ("torch.nn.functional.gelu", "torch.nn.functional.silu"),
        ("torch.norm", "torch.linalg.vector_norm"),
    ],
)
def test_functions_that_differ_on_some_arguments_are_no_aliases(one: str, other: str) -> None:
    assert canonical(one) != canonical(other)


def test_function_has_all_its_aliases() -> None:
    assert set(names_of("torch.special.expit")) == {
        "torch.sigmoid",
        "torch.special.expit",
        "torch.nn.functional.sigmoid",
    }


@pytest.mark.slow
@pytest.mark.long
def test_alias_table_matches_the_installed_torch() -> None:
    script = "import json; from eqfuzz.rewrite.calls import aliases; print(json.dumps(aliases.measure()))"
    # In a process of its own: what earlier tests did to torch's dispatch shows in the measurement.
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    measured = json.loads(ended.stdout)
    there = {name: best for name, best in aliases.written().items() if operator_at(name) and operator_at(best)}
    assert there.items() <= measured.items()


def test_sample_of_the_alias_table_matches_the_installed_torch() -> None:
    table = aliases.written()
    for name in list(table)[::9]:
        if operator_at(name) is not None and operator_at(table[name]) is not None:
            assert aliases.agree(name, table[name], torch.float32), f"{name} is not {table[name]}"


def test_hundreds_of_operators_have_each_form() -> None:
    every = {s.operator.aten: s for s in samples()}
    assert len(every) >= 250
    assert len({s.operator.aten for s in samples() if has_method(s)}) >= 150
    assert len({s.operator.aten for s in samples() if has_in_place(s)}) >= 80
    assert len({s.operator.aten for s in samples() if has_out(s)}) >= 150
