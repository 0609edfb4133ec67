"""Aliasing: which tensors share memory after a call, and at which distance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from eqfuzz.torch_internals.tensors import storage_key


def shared_memory(outputs: Sequence[tuple[str, Any]], others: Sequence[tuple[str, Any]]) -> list[tuple[str, str]]:
    """The pairs that share memory, of an output and a later output or one of ``others``, each with its relation.

    A pair is named by the Python expression ``shared(a, b)``. Its relation is the distance of the first elements in
    bytes, and whether the two extents overlap. Empty tensors share nothing. Two tensors share memory if they have one
    storage, or storages that overlap: each tensor made of a NumPy array has a storage of its own.
    """
    pairs = []
    own = [(path, leaf) for path, leaf in outputs if _has_memory(leaf)]
    foreign = [(path, leaf) for path, leaf in others if _has_memory(leaf)]
    for number, (path, leaf) in enumerate(own):
        for other, value in (*own[number + 1 :], *foreign):
            if _share(leaf, value):
                pairs.append((f"shared({path}, {other})", relation(leaf, value)))
    return pairs


def relation(first: torch.Tensor, second: torch.Tensor) -> str:
    """How two tensors that share memory lie in it: ``overlapping, 8 bytes apart``."""
    starts = [tensor.storage_offset() * tensor.element_size() for tensor in (first, second)]
    if storage_key(first) != storage_key(second):
        starts[1] += second.untyped_storage().data_ptr() - first.untyped_storage().data_ptr()
    ends = [start + _extent(tensor) for start, tensor in zip(starts, (first, second), strict=True)]
    overlap = starts[0] < ends[1] and starts[1] < ends[0]
    return f"{'overlapping' if overlap else 'side by side'}, {starts[1] - starts[0]} bytes apart"


def _share(first: torch.Tensor, second: torch.Tensor) -> bool:
    if storage_key(first) == storage_key(second):
        return True
    if {first.device.type, second.device.type} != {"cpu"}:
        return False
    one, other = first.untyped_storage(), second.untyped_storage()
    return one.data_ptr() < other.data_ptr() + other.nbytes() and other.data_ptr() < one.data_ptr() + one.nbytes()


def _extent(tensor: torch.Tensor) -> int:
    """Bytes from the first element to the end of the last one."""
    steps = sum((size - 1) * stride for size, stride in zip(tensor.size(), tensor.stride(), strict=True))
    return (steps + 1) * tensor.element_size()


def _has_memory(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.layout is torch.strided and not value.is_meta and value.numel() > 0
