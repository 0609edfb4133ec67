"""Calls that write to an operand: in place, on a copy in place, and into ``out``."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch

from eqfuzz.generate.catalogues.operator_sample import OperatorSample
from eqfuzz.torch_internals.trees import tree_map_only

_FLAG = "inplace"


def writing_calls(call: OperatorSample, in_place: Callable[..., Any] | None) -> Iterator[OperatorSample]:
    """The call with its result written elsewhere, which eager may refuse.

    ``in_place`` does the same in place. Leaves that require gradients cannot be written
    to: a copy is, or they require none.
    """
    writing = dataclasses.replace(call, is_guess=True, writes=True)
    args, kwargs = tree_map_only(torch.Tensor, torch.Tensor.detach, (call.args, dict(call.kwargs)))
    plain = dataclasses.replace(writing, args=args, kwargs=kwargs)
    if in_place is not None:
        name = getattr(in_place, "__name__", "")  # that of a functional form has none
        yield dataclasses.replace(plain, function=in_place, path=f"Tensor.{name}" if name else "")
        yield dataclasses.replace(writing, function=partial(_on_copy, in_place), path="")
    if _has_flag(call.function):
        flagged = {**call.kwargs, _FLAG: True}
        yield dataclasses.replace(writing, function=partial(_on_copy, call.function), path="", kwargs=flagged)
    try:
        result = call.function(*args, **kwargs)
    except Exception:  # eager refuses this call as it is, and says so where it is written
        return
    if isinstance(result, torch.Tensor) and result.layout is torch.strided and "out" not in kwargs:
        yield dataclasses.replace(plain, kwargs={**kwargs, "out": torch.zeros_like(result)})


def _on_copy(function: Callable[..., Any], first: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
    return function(first.clone(), *args, **kwargs)


def _has_flag(function: Callable[..., Any]) -> bool:
    try:
        return _FLAG in inspect.signature(function).parameters
    except (TypeError, ValueError):  # builtin functions have no signature, and no such flag
        return False
