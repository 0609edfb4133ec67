"""Calls that write to an operand: in place, on a copy in place, and into ``out``."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import torch

from eqfuzz.torch_internals.trees import tree_map_only

_FLAG = "inplace"


@dataclasses.dataclass(frozen=True)
class WritingCall:
    """``function(*args, **kwargs)``; ``path`` is its name below ``torch``, empty for one without."""

    function: Callable[..., Any]
    path: str
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]


def writing_calls(
    function: Callable[..., Any],
    path: str,
    in_place: Callable[..., Any] | None,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
) -> Iterator[WritingCall]:
    """The call with its result written elsewhere, which eager may refuse.

    ``in_place`` does the same in place. Leaves that require gradients cannot be written
    to: a copy is, or they require none.
    """
    plain_args, plain_kwargs = tree_map_only(torch.Tensor, torch.Tensor.detach, (args, dict(kwargs)))
    if in_place is not None:
        name = getattr(in_place, "__name__", "")  # that of a functional form has none
        yield WritingCall(in_place, f"Tensor.{name}" if name else "", plain_args, plain_kwargs)
        yield WritingCall(partial(_on_copy, in_place), "", args, kwargs)
    if _has_flag(function):
        yield WritingCall(partial(_on_copy, function), "", args, {**kwargs, _FLAG: True})
    try:
        result = function(*plain_args, **plain_kwargs)
    except Exception:  # eager refuses this call as it is, and says so where it is written
        return
    if isinstance(result, torch.Tensor) and result.layout is torch.strided and "out" not in kwargs:
        yield WritingCall(function, path, plain_args, {**plain_kwargs, "out": torch.zeros_like(result)})


def _on_copy(function: Callable[..., Any], first: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
    return function(first.clone(), *args, **kwargs)


def _has_flag(function: Callable[..., Any]) -> bool:
    try:
        return _FLAG in inspect.signature(function).parameters
    except (TypeError, ValueError):  # builtin functions have no signature, and no such flag
        return False
