"""Operands get other dtypes."""

from __future__ import annotations

import pytest
import torch

from eqfuzz.generate.catalogues.variations.other_dtypes import other_dtypes
from eqfuzz.torch_internals.trees import tensors_in


def operands(*args: torch.Tensor, dtype: torch.dtype) -> list[list[tuple[torch.dtype, int]]]:
    return [[(tensor.dtype, tensor.dim()) for tensor in tensors_in(both)] for both in other_dtypes(args, {}, dtype)]


def test_second_operand_is_wider_of_rank_0_narrower_or_of_another_kind():
    pair = torch.ones(2, 3), torch.ones(3)
    assert operands(*pair, dtype=torch.float32) == [
        [(torch.float32, 2), (torch.float64, 0)],
        [(torch.float32, 2), (torch.bfloat16, 1)],
        [(torch.float32, 2), (torch.int64, 1)],
        [(torch.float32, 2), (torch.int64, 0)],
        [(torch.bfloat16, 2), (torch.float32, 0)],
    ]


def test_calls_with_one_such_operand_have_none():
    assert operands(torch.ones(2), torch.tensor([1]), dtype=torch.float32) == []
    assert operands(torch.ones(2), torch.ones(0), dtype=torch.float32) == []


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.int8, torch.bool, torch.complex64])
def test_gradients_stay_required_where_there_are_any(dtype: torch.dtype):
    values = torch.ones(2, dtype=dtype)
    differentiable = dtype.is_floating_point or dtype.is_complex
    one, other = values.clone().requires_grad_(differentiable), values.clone().requires_grad_(differentiable)
    changed = list(other_dtypes((one,), {"other": other}, dtype))
    assert changed
    for both in changed:
        for tensor in tensors_in(both):
            assert tensor.is_leaf
            assert tensor.requires_grad == (differentiable and (tensor.is_floating_point() or tensor.is_complex()))
