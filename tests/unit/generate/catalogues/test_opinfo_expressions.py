"""Calls of the catalogue as expressions, those of its lambdas too."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from eqfuzz.generate.catalogues.expression import Unwritable, written_call

X, Y = torch.ones(2, 3), torch.ones(2, 3)


@pytest.mark.parametrize(
    ("function", "path", "args", "kwargs", "expression"),
    [
        (torch.add, "add", (X, Y), {"alpha": 2}, "torch.add(${x}, ${y}, alpha=2)"),
        (torch.add, "add", (X, X), {}, "torch.add(${x}, ${x})"),
        (torch.nn.functional.relu, "nn.functional.relu", (X,), {}, "F.relu(${x})"),
        (torch.cat, "cat", ([X, Y],), {"dim": -1}, "torch.cat([${x}, ${y}], dim=-1)"),
        (lambda x, *sizes: x.expand(*sizes), "expand", (X, 4, 2, 3), {}, "${x}.expand(4, 2, 3)"),
        (lambda x: x.T, "T", (X,), {}, "${x}.T"),
        (lambda x: torch.zero_(x.clone()), "zero_", (X,), {}, "torch.zero_(${x}.clone())"),
        (lambda f, *x: torch.einsum(f, *x), "einsum", ("ij,ij->i", X, Y), {}, 'torch.einsum("ij,ij->i", ${x}, ${y})'),
        (torch.ops.aten.add.Tensor, "ops.aten.add", (X, Y), {}, "torch.ops.aten.add.Tensor(${x}, ${y})"),
        (torch.zeros, "zeros", ((2, 3),), {"dtype": torch.int8}, "torch.zeros((2, 3), dtype=torch.int8)"),
        (torch.clamp, "clamp", (X, None, float("inf")), {}, 'torch.clamp(${x}, None, float("inf"))'),
        (
            torch.empty_like,
            "empty_like",
            (X,),
            {"memory_format": torch.preserve_format, "device": torch.device("cpu")},
            'torch.empty_like(${x}, memory_format=torch.preserve_format, device="cpu")',
        ),
    ],
)
def test_call_is_written_as_a_user_would(
    function: Callable[..., Any], path: str, args: tuple[Any, ...], kwargs: dict[str, Any], expression: str
):
    assert written_call(function, path, args, kwargs).expression == expression


@pytest.mark.parametrize(
    ("function", "args", "reason"),
    [
        (torch.abs, (X.to_sparse(),), "an operand is sparse coo"),
        (torch.abs, (X, object()), "an argument is a object"),
        (lambda x: (y := x + 1) * y, (X,), "the catalogue calls more than the operator"),
        (lambda x: 3, (X,), "the catalogue calls more than the operator"),
        (torch.sum, (X, tuple(range(1000))), "its arguments are long"),
    ],
)
def test_unreadable_call_has_a_reason(function: Callable[..., Any], args: tuple[Any, ...], reason: str):
    with pytest.raises(Unwritable, match=f"^{reason}$"):
        written_call(function, "nothing", args, {})
