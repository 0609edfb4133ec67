"""Calls with operands of other sizes: those of OpInfo divide evenly, and are equal where they need not be."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import torch

from eqfuzz.generate.catalogues.sample import Arguments
from eqfuzz.torch_internals.trees import tensors_in, tree_map_only

_Resize = Callable[[torch.Tensor, int], int]
"""The size of a dimension of a tensor instead of its own."""

_ROW = 32
"""So many elements more make a row longer than any vector register, and than what compilers unroll."""


def other_sizes(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Iterator[Arguments]:
    """The arguments with a size that is larger by one, wherever it occurs, then in one dimension of one tensor alone.

    At last with longer rows, wherever their size occurs. Eager may refuse some of them. The elements that are added are
    those at the beginning.
    """
    both = (args, dict(kwargs))
    tensors = tensors_in(both)
    sizes = [size for tensor in tensors for size in tensor.shape]
    resizes: list[_Resize] = [partial(_larger_everywhere, size, 1) for size in dict.fromkeys(sizes) if size > 1]
    for tensor in tensors:
        resizes += [partial(_larger_there, tensor, d) for d, size in enumerate(tensor.shape) if sizes.count(size) > 1]
    rows = [tensor.shape[-1] for tensor in tensors if tensor.dim()]
    resizes += [partial(_larger_everywhere, size, _ROW) for size in dict.fromkeys(rows) if size > 1]
    for resize in resizes:
        yield tree_map_only(torch.Tensor, partial(_resized, resize), both)


def _larger_everywhere(size: int, more: int, tensor: torch.Tensor, dim: int) -> int:
    return tensor.shape[dim] + more * (tensor.shape[dim] == size)


def _larger_there(place: torch.Tensor, place_dim: int, tensor: torch.Tensor, dim: int) -> int:
    return tensor.shape[dim] + (tensor is place and dim == place_dim)


def _resized(resize: _Resize, tensor: torch.Tensor) -> torch.Tensor:
    if tensor.layout is not torch.strided or not tensor.numel():
        return tensor
    values = tensor.detach()
    for dim, size in enumerate(tensor.shape):
        wanted = resize(tensor, dim)
        if wanted != size:
            values = values.index_select(dim, torch.arange(wanted) % size)
    return tensor if values.shape == tensor.shape else values.requires_grad_(tensor.requires_grad)
