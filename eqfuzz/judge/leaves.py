"""Leaves: the tensors, arrays and scalars inside any value that a program takes or returns, with their paths."""

from __future__ import annotations

import collections
import dataclasses
import re
from typing import Any

import numpy as np
import torch

from eqfuzz.program.namespace import attributes

_PLAIN = (bool, int, float, complex, str, bytes, type(None), torch.dtype, torch.device, np.generic)
_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
_MAX_DEPTH = 40
_LOOP = "..."


def leaves(value: Any, path: str) -> list[tuple[str, Any]]:
    """``(path, leaf)`` pairs in a fixed order; paths are Python expressions such as ``output[0]['a'].field``.

    Leaves are tensors, numpy arrays and plain scalars as they are; of any other object its ``repr`` without addresses.
    Lists, tuples, deques, dictionaries, dataclasses and objects of a program's own classes are gone into.
    """
    found: list[tuple[str, Any]] = []
    _collect(value, path, found, ())
    return found


def structure(value: Any) -> str:
    """The types of the containers and leaves, with keys in their order: ``tuple[Tensor, dict['a': list[int]]]``."""
    return _structure(value, ())


def is_tensor_like(value: Any) -> bool:
    return isinstance(value, (torch.Tensor, np.ndarray))


def tensors(value: Any, path: str) -> list[tuple[str, torch.Tensor]]:
    return [(where, leaf) for where, leaf in leaves(value, path) if isinstance(leaf, torch.Tensor)]


def _children(value: Any) -> list[tuple[str, str, Any]] | None:
    """``(path suffix, label, child)`` of a container, None for a leaf."""
    if isinstance(value, _PLAIN) or is_tensor_like(value):
        return None
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value)]
        return [(f".{name}", f"{name}: ", getattr(value, name, None)) for name in names]
    if isinstance(value, dict):
        return [(f"[{_text(key)}]", f"{_text(key)}: ", child) for key, child in value.items()]
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return [(f".{name}", f"{name}: ", getattr(value, name)) for name in value._fields]  # type: ignore[attr-defined]
    if isinstance(value, (list, tuple, collections.deque)):
        return [(f"[{index}]", "", child) for index, child in enumerate(value)]
    own = attributes(value)
    return None if own is None else [(f".{name}", f"{name}: ", child) for name, child in own.items()]


def _collect(value: Any, path: str, found: list[tuple[str, Any]], around: tuple[int, ...]) -> None:
    """``around`` are the ids of the containers that ``value`` is in."""
    children = _children(value)
    if children is None or len(around) > _MAX_DEPTH:
        found.append((path, value if isinstance(value, _PLAIN) or is_tensor_like(value) else _text(value)))
    elif id(value) in around:
        found.append((path, _LOOP))
    else:
        for suffix, _, child in children:
            _collect(child, path + suffix, found, (*around, id(value)))


def _structure(value: Any, around: tuple[int, ...]) -> str:
    if isinstance(value, torch.Tensor):
        # A parameter returned as it is may legally come back as a plain tensor.
        name = "Tensor" if type(value) is torch.nn.Parameter else type(value).__name__
        return name if value.layout is torch.strided else f"{name}<{value.layout}>"
    children = _children(value)
    if children is None or len(around) > _MAX_DEPTH:
        return type(value).__name__
    if id(value) in around:
        return _LOOP
    inside = ", ".join(label + _structure(child, (*around, id(value))) for _, label, child in children)
    return f"{_named(value)}[{inside}]"


def _named(value: Any) -> str:
    """The type of a container, with what it does with further items."""
    name = type(value).__name__
    if isinstance(value, collections.deque) and value.maxlen is not None:
        return f"{name}({value.maxlen})"
    if isinstance(value, collections.defaultdict):
        return f"{name}({getattr(value.default_factory, '__name__', None)})"
    return name


def _text(value: Any) -> str:
    """A stable ``repr``: addresses removed, sets sorted."""
    if isinstance(value, (set, frozenset)):
        inside = ", ".join(sorted(_text(item) for item in value))
        return f"{type(value).__name__}({{{inside}}})"
    return _ADDRESS.sub("0x…", repr(value))
