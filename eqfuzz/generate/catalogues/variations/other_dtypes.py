"""Calls whose operands differ in dtype, and have rank 0 where that decides about the result's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import torch

from eqfuzz.generate.catalogues.sample import Arguments
from eqfuzz.torch_internals.trees import tensors_in, tree_map_only

_WIDER = {
    torch.float32: torch.float64,
    torch.bfloat16: torch.float32,
    torch.float16: torch.float64,
    torch.complex64: torch.complex128,
    torch.int8: torch.int64,
    torch.uint8: torch.int32,
}
_NARROWER = {
    torch.float64: torch.float32,
    torch.float32: torch.bfloat16,
    torch.int64: torch.int8,
    torch.complex64: torch.float32,
}
_OF_ANOTHER_KIND = {
    torch.float64: torch.int64,
    torch.float32: torch.int64,
    torch.bfloat16: torch.uint8,
    torch.float16: torch.bool,
    torch.int64: torch.float32,
    torch.int8: torch.bfloat16,
    torch.uint8: torch.int8,
    torch.bool: torch.int8,
    torch.complex64: torch.float64,
}


def other_dtypes(args: tuple[Any, ...], kwargs: Mapping[str, Any], dtype: torch.dtype) -> Iterator[Arguments]:
    """The arguments with one of several tensors of ``dtype`` in another one; eager may refuse some of them.

    A wider or narrower dtype of the same kind is that of an operand with its shape or with rank 0, which then takes no
    part in the promotion; one of another kind does.
    """
    both = (args, dict(kwargs))
    alike = [tensor for tensor in tensors_in(both) if tensor.dtype == dtype and tensor.numel()]
    if len(alike) < 2:
        return
    first, second = alike[:2]
    for others, of_rank_0 in ((_WIDER, True), (_NARROWER, False), (_OF_ANOTHER_KIND, False), (_OF_ANOTHER_KIND, True)):
        if dtype in others:
            yield tree_map_only(torch.Tensor, partial(_replaced, second, others[dtype], of_rank_0=of_rank_0), both)
    if dtype in _NARROWER:
        scalar = tree_map_only(torch.Tensor, partial(_replaced, second, dtype, of_rank_0=True), both)
        yield tree_map_only(torch.Tensor, partial(_replaced, first, _NARROWER[dtype], of_rank_0=False), scalar)


def _replaced(chosen: torch.Tensor, dtype: torch.dtype, tensor: torch.Tensor, *, of_rank_0: bool) -> torch.Tensor:
    if tensor is not chosen:
        return tensor
    values = tensor.detach()
    values = (values.flatten()[0] if of_rank_0 else values).to(dtype)
    has_gradient = tensor.requires_grad and (dtype.is_floating_point or dtype.is_complex)
    return values.clone().requires_grad_(has_gradient)
