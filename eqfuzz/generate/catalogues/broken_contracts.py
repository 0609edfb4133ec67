"""Calls with one argument that breaks the operator's contract, made from calls that keep it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

import torch

from eqfuzz.torch_internals.trees import tree_flatten, tree_unflatten

_BEYOND = 99
"""Larger than any size, class or dimension of a sample."""


@dataclasses.dataclass(frozen=True)
class BrokenCall:
    """Arguments of a call; ``broken`` says in words what is wrong with one of them."""

    broken: str
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]


def broken_calls(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Iterator[BrokenCall]:
    """The call with each of its arguments broken in each way; eager may accept some of them."""
    leaves, structure = tree_flatten((args, dict(kwargs)))
    largest = max((size for leaf in leaves if isinstance(leaf, torch.Tensor) for size in leaf.shape), default=0)
    for position, leaf in enumerate(leaves):
        for broken, value in _broken(leaf, largest):
            changed, named = tree_unflatten([*leaves[:position], value, *leaves[position + 1 :]], structure)
            yield BrokenCall(broken, changed, named)


def _broken(value: Any, largest: int) -> Iterator[tuple[str, Any]]:
    if isinstance(value, torch.Tensor):
        if value.layout is torch.strided:
            yield from _broken_values(value.detach(), largest)
            yield from _broken_shapes(value.detach())
            yield from _other_dtypes(value.detach())
    elif isinstance(value, bool):
        return
    elif isinstance(value, int):
        yield from ((f"a number that is {other}", other) for other in (_BEYOND, -_BEYOND, 0, -1) if other != value)
    elif isinstance(value, float):
        yield from ((f"a number that is {other}", other) for other in (-1.0, 2.0) if other != value)
    elif isinstance(value, str):
        yield "an unknown word", "unknown"


def _broken_values(value: torch.Tensor, largest: int) -> Iterator[tuple[str, torch.Tensor]]:
    if not value.numel() or value.dtype is torch.bool:
        return
    if value.dtype in (torch.int64, torch.int32):
        yield "an integer that is too large", _with_last(value, largest + 1)
        yield "an integer that is too small", _with_last(value, -largest - 1)
    elif value.is_floating_point():
        yield "a negative number", _with_last(value, -1.5)
        yield "a number above one", _with_last(value, 1.5)


def _with_last(value: torch.Tensor, last: float) -> torch.Tensor:
    changed = value.contiguous().clone()
    changed.view(-1)[-1] = last
    return changed


def _broken_shapes(value: torch.Tensor) -> Iterator[tuple[str, torch.Tensor]]:
    yield "a dimension more", value.unsqueeze(0).clone()
    if not value.dim() or not value.numel():
        return
    yield "a dimension less", value[0].clone()
    yield "one more in the first dimension", torch.cat([value, value[-1:]])
    if value.dim() > 1:
        yield "one more in the last dimension", torch.cat([value, value[..., -1:]], -1)
    yield "no elements", value[..., :0].clone()


def _other_dtypes(value: torch.Tensor) -> Iterator[tuple[str, torch.Tensor]]:
    for dtype in (torch.int64, torch.float32, torch.bool):
        if value.dtype is not dtype and not value.is_complex():
            yield f"{dtype} in place of {value.dtype}", value.to(dtype)
