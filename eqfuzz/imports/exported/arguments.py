"""Values of a captured graph beside their Python text."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import torch
from torch.fx import Node

from eqfuzz.imports.text.literals import Unsupported, number_text, sequence


@dataclasses.dataclass(frozen=True)
class GraphArgument:
    """What a node computes or a call takes: its text, its value, and the items of a list."""

    text: str
    value: Any
    items: tuple[GraphArgument, ...] = ()


def argument(value: Any, nodes: Mapping[Node, GraphArgument]) -> GraphArgument:
    """The argument that a graph holds as ``value``. Raises Unsupported."""
    if isinstance(value, Node):
        return nodes[value]
    if isinstance(value, list | tuple):
        return list_of([argument(item, nodes) for item in value])
    return GraphArgument(_literal(value), value)


def list_of(items: list[GraphArgument]) -> GraphArgument:
    """A list of the items; sizes are written as a tuple."""
    texts = [item.text for item in items]
    tensors = any(isinstance(item.value, torch.Tensor) for item in items)
    text = f"[{', '.join(texts)}]" if tensors or not items else sequence(texts)
    return GraphArgument(text, [item.value for item in items], tuple(items))


def _literal(value: Any) -> str:
    if value is None or isinstance(value, bool | str):
        return repr(value)
    if isinstance(value, int | float):
        return number_text(value)
    if isinstance(value, complex):
        return f"complex({number_text(value.real)}, {number_text(value.imag)})"
    if isinstance(value, torch.dtype | torch.memory_format | torch.layout):
        return str(value)
    if isinstance(value, torch.device):
        return repr(str(value))
    raise Unsupported(f"an argument of type {type(value).__name__}")
