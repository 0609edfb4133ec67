"""Calls that take one tensor twice: those of OpInfo have a tensor for each operand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import torch

from eqfuzz.generate.catalogues.sample import Arguments
from eqfuzz.torch_internals.trees import tensors_in, tree_map_only


def operand_twice(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Iterator[Arguments]:
    """The arguments with the first tensor in place of the next one of its dtype; eager may refuse them."""
    both = (args, dict(kwargs))
    first, *others = [*tensors_in(both), None]
    second = next((tensor for tensor in others if tensor is not None and tensor.dtype == first.dtype), None)
    if second is not None and second is not first:
        yield tree_map_only(torch.Tensor, partial(_replaced, second, first), both)


def _replaced(old: torch.Tensor, new: torch.Tensor, tensor: torch.Tensor) -> torch.Tensor:
    return new if tensor is old else tensor
