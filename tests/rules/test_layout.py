"""Rules about memory do not apply where strides, offsets or random numbers would differ."""

from __future__ import annotations

import pytest
import torch

from tests.rules.matching import HEADER, X, reasons_in, sites_in, variants


@pytest.mark.parametrize(
    "call", ["F.dropout(x, 0.5)", "torch.rand_like(x)", "x.clone().normal_()", "torch.bernoulli(x.sigmoid())"]
)
def test_tensors_that_decide_the_order_of_random_numbers_keep_their_layout(call: str) -> None:
    source = f"{HEADER}def program(x):\n    return {call}\n"
    assert sites_in(source, "layout/column_major", X) == []
    assert "random numbers" in " ".join(reasons_in(source, "layout/column_major", X))
    assert len(variants(source, "layout/cloned", X)) >= 1


def test_input_of_a_dropout_module_keeps_its_layout() -> None:
    source = HEADER + "from torch.nn import Dropout\ndrop = Dropout(0.5)\n\n\ndef program(x):\n    return drop(x)\n"
    assert sites_in(source, "layout/column_major", X) == []


def test_random_numbers_depend_on_the_order_of_memory() -> None:
    torch.manual_seed(3)
    first = torch.nn.functional.dropout(X, 0.5)
    torch.manual_seed(3)
    second = torch.nn.functional.dropout(X.t().contiguous().t(), 0.5)
    assert not torch.equal(first, second)


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        ("return x.reshape(2, 3), x.sum() / 5", "dynamic-sizes/count_from_tensor"),
        ("return x[:1]", "dynamic-sizes/first_rows_from_shape"),
        ("return x[..., :2]", "dynamic-sizes/first_columns_from_shape"),
        ("return x[:, :1] + torch.arange(3)", "dynamic-sizes/range_from_shape"),
        ("n = [1, 2]\n    return len(n), x.ndim", "dynamic-sizes/rows_by_len"),
    ],
)
def test_numbers_unrelated_to_a_shape_are_not_replaced_by_sizes(body: str, rule: str) -> None:
    assert sites_in(f"{HEADER}def program(x):\n    {body}\n", rule, X) == []


def test_a_number_that_is_a_size_once_only_stays_a_number() -> None:
    source = (
        HEADER + "def program(x):\n    out = []\n    for r in (x, x[:1]):\n        out.append(r[:2])\n    return out\n"
    )
    assert sites_in(source, "dynamic-sizes/first_rows_from_shape", X) == []


@pytest.mark.parametrize(
    "statement",
    [
        "z = [torch.arange(3) for x in (y, y)]",
        "z = (lambda: torch.arange(3))() if False else x",
        "z = x.sum() + (x := y).reshape(3, 2).sum() + torch.arange(3)",
        "z = torch.arange(3) if len(str(1)) > 5 else x.sum()",
        "z = torch.arange(7) + x.sum()",
        "z = torch.arange(3)",
    ],
)
def test_sizes_are_not_taken_from_tensors_that_may_not_be_read(statement: str) -> None:
    source = f"{HEADER}def program(x, y):\n    {statement}\n    return z, x\n"
    places = sites_in(source, "dynamic-sizes/literal_from_shape", X, X * 2)
    assert [s for s in places if "arange" in s.before] == []


def test_sizes_are_taken_from_tensors_that_the_statement_reads() -> None:
    source = HEADER + "def program(x, y):\n    z = torch.arange(3) + x.reshape(3, 2).sum() * y\n    return z\n"
    texts = {s.text for s in sites_in(source, "dynamic-sizes/literal_from_shape", X, X * 2)}
    assert {"torch.arange(x.shape[1])", "torch.arange(y.size(1))", "x.reshape(x.shape[1], 2)"} <= texts
    assert len(variants(source, "dynamic-sizes/literal_from_shape", X, X * 2)) == len(texts)


def test_only_a_tensor_of_one_ordinary_value_without_gradient_is_stored_once() -> None:
    source = HEADER + "def program(x, y):\n    return x + y\n"
    ones = torch.ones(2, 3)
    assert {s.before for s in sites_in(source, "layout/constant_stored_once", ones, X)} == {"x"}
    special = torch.full((2, 3), float("nan"))
    assert sites_in(source, "layout/constant_stored_once", special, X) == []
    assert sites_in(source, "layout/constant_stored_once", ones.clone().requires_grad_(), X) == []


def test_views_are_not_made_of_tensors_changed_later() -> None:
    source = HEADER + "def program(x):\n    y = x * 2\n    z = y\n    z.add_(1)\n    return y\n"
    for rule in ("narrowed_to_all", "viewed_flat_and_back", "moved_and_back"):
        lines = {(s.line, s.before) for s in sites_in(source, f"layout/{rule}", X)}
        assert lines == {(4, "x"), (6, "z.add_(1)"), (7, "y")}
