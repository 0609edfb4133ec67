"""Operators as objects: types, schemas, overloads, and declarations in torch's own tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch._jit_internal
from torch._ops import HigherOrderOperator, OperatorBase, OpOverload, OpOverloadPacket

__all__ = [
    "HigherOrderOperator",
    "OpOverload",
    "OperatorBase",
    "cast",
    "overload_name",
    "overloads_of",
    "schema_of",
    "unary_ufuncs",
    "undispatched",
]


def schema_of(operator: Any) -> Any:
    """The schema of an overload: ``name``, ``arguments`` and ``returns`` with their ``alias_info``, ``is_mutable``."""
    return operator._schema


def overload_name(operator: Any) -> str:
    """``Tensor`` for ``aten.add.Tensor``; ``default`` where the schema gives it no name."""
    return operator._overloadname


def overloads_of(aten: str) -> list[tuple[str, Any, list[Any]]]:
    """Each overload of an ATen operator (``sum.dim_IntList``) with its schema and tags; none when there is no such."""
    packet = getattr(torch.ops.aten, aten, None) if aten.isidentifier() else None
    if not isinstance(packet, OpOverloadPacket):
        return []
    overloads = [(name, getattr(packet, name)) for name in packet.overloads()]
    return [(f"{aten}.{name}", schema_of(overload), overload.tags) for name, overload in overloads]


def cast(value: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """The operator that ``value.to(dtype)`` dispatches to, which always copies."""
    return torch.ops.aten._to_copy.default(value, dtype=dtype)


def undispatched(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function behind ``F.max_pool2d`` and similar ones without indices; it has named parameters."""
    branches = torch._jit_internal.boolean_dispatched.get(function)
    return branches["if_false"] if branches is not None else function


def unary_ufuncs() -> Sequence[Any]:
    """PyTorch's OpInfo entries of elementwise operators with one operand. Needs expecttest."""
    from torch.testing._internal.common_methods_invocations import unary_ufuncs

    return unary_ufuncs
