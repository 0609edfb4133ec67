"""Leaves: the tensors, arrays and scalars inside any value that a program takes or returns, with their paths."""

from __future__ import annotations

import collections
import dataclasses
import inspect
import keyword
import re
from typing import Any

import numpy as np
import torch

from eqfuzz.program.namespace import own_attributes

_PLAIN = (bool, int, float, complex, str, bytes, type(None), torch.dtype, torch.device, np.generic)
_MAX_DEPTH = 40


def leaves(value: Any, path: str) -> list[tuple[str, Any]]:
    """``(path, leaf)`` pairs in a fixed order; paths are Python expressions such as ``output[0]['a'].field``.

    Leaves are tensors, numpy arrays and plain scalars as they are; of any other object its ``repr`` without addresses.
    Lists, tuples, deques, dictionaries, dataclasses and objects of a program's own classes are traversed.
    """
    pairs: list[tuple[str, Any]] = []
    _collect(value, path, pairs, ())
    return pairs


def is_tensor_like(value: Any) -> bool:
    return isinstance(value, (torch.Tensor, np.ndarray))


def tensors(value: Any, path: str) -> list[tuple[str, torch.Tensor]]:
    """The ``(path, leaf)`` pairs of ``leaves`` whose leaf is a tensor."""
    return [(where, leaf) for where, leaf in leaves(value, path) if isinstance(leaf, torch.Tensor)]


def path_in(model: torch.nn.Module, name: str) -> str:
    """The Python expression of a parameter or submodule by its name, such as ``layers.0.weight``."""
    path, owner = "model", model
    for part in name.split("."):
        numbered = isinstance(owner, (torch.nn.Sequential, torch.nn.ModuleList, torch.nn.ParameterList))
        if numbered and part.isdigit() and owner is not model:  # a compiled module has no items
            path += f"[{part}]"
        elif part.isidentifier() and not keyword.iskeyword(part):
            path += f".{part}"
        else:
            path = f"getattr({path}, {part!r})"
        owner = getattr(owner, part)
    return path


def _collect(value: Any, path: str, pairs: list[tuple[str, Any]], around: tuple[int, ...]) -> None:
    """``around`` are the ids of the containers around ``value``."""
    children = items_inside(value)
    if children is None or len(around) > _MAX_DEPTH:
        pairs.append((path, value if isinstance(value, _PLAIN) or is_tensor_like(value) else stable_repr(value)))
    elif id(value) in around:
        pairs.append((path, "..."))
    else:
        for suffix, _, child in children:
            _collect(child, path + suffix, pairs, (*around, id(value)))


def structure(value, around=()):
    """The types of the containers and leaves, with keys in their order: ``tuple[Tensor, dict['a': list[int]]]``."""
    if isinstance(value, torch.Tensor):
        # A parameter returned as it is may legally come back as a plain tensor.
        name = "Tensor" if type(value) is torch.nn.Parameter else type(value).__name__
        return name if value.layout is torch.strided else f"{name}<{value.layout}>"
    if type(value).__module__ == "numpy" and getattr(value, "shape", None) == ():
        return "ndarray"  # Dynamo represents scalars of NumPy as arrays without dimensions (RFC 0032)
    name, items = type(value).__name__, items_inside(value)
    if items is None or len(around) > 40:
        return name
    if id(value) in around:
        return "..."
    if isinstance(value, collections.deque) and value.maxlen is not None:
        name += f"({value.maxlen})"
    if isinstance(value, collections.defaultdict):
        name += f"({getattr(value.default_factory, '__name__', None)})"
    parts: list[str] = [label + structure(item, (*around, id(value))) for _, label, item in items]
    return f"{name}[{', '.join(parts)}]"


def items_inside(value):
    """``(where, label, item)`` of all that a container or an object of the program holds; None for anything else."""
    if isinstance(value, torch.Tensor):
        return None
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value)]
        return [(f".{name}", f"{name}: ", getattr(value, name, None)) for name in names]
    if isinstance(value, dict):
        return [(f"[{stable_repr(key)}]", f"{stable_repr(key)}: ", item) for key, item in value.items()]
    if isinstance(value, tuple) and getattr(type(value), "_fields", None) is not None:
        return [(f".{name}", f"{name}: ", getattr(value, name)) for name in getattr(type(value), "_fields", ())]
    if isinstance(value, (list, tuple, collections.deque)):
        return [(f"[{index}]", "", item) for index, item in enumerate(value)]
    own = own_attributes(value)
    return None if own is None else [(f".{name}", f"{name}: ", item) for name, item in sorted(own.items())]


def stable_repr(value):
    """A stable ``repr``: addresses removed, sets sorted."""
    if isinstance(value, (set, frozenset)):
        return f"{type(value).__name__}({{{', '.join(sorted(stable_repr(item) for item in value))}}})"
    try:
        return re.sub("0x[0-9a-fA-F]+", "0x…", repr(value))
    except Exception as error:  # its class says how it is shown, and may be wrong
        return f"{type(value).__name__} whose repr raises {type(error).__name__}"


STRUCTURE = "\n\n".join(map(inspect.getsource, (structure, items_inside, stable_repr, own_attributes)))
"""The source of these functions, for scripts that import their dependencies and define ``MODULE_PREFIX``."""
