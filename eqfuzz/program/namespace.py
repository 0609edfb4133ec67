"""Globals of a program's module: plain values that a call may change, saved and restored."""

from __future__ import annotations

import ast
import collections
import enum
import sys
import types
from typing import Any

import numpy as np
import torch

from eqfuzz.program.parsing import parse
from eqfuzz.program.restoring import keep, put_back

MODULE_PREFIX = "eqfuzz_seed_"
"""The beginning of the names of modules that programs are executed in."""

_PLAIN = (bool, int, float, complex, str, bytes, type(None), np.generic)


def namespace_of(target: Any) -> dict[str, Any]:
    """The globals of the program that ``target``, its function or module, is defined in; empty for torch's own."""
    owner = target if isinstance(target, types.FunctionType) else type(target)
    name = getattr(owner, "__module__", None) or ""
    return vars(sys.modules[name]) if name.startswith(MODULE_PREFIX) and name in sys.modules else {}


def plain_globals(namespace: dict[str, Any]) -> dict[str, Any]:
    """Globals with data that a call may change: numbers, text, tensors, and containers of these."""
    return {name: value for name, value in namespace.items() if not name.startswith("__") and is_plain(value)}


def is_plain(value: Any) -> bool:
    """Whether a value consists of data only, so that it can be copied and compared."""
    return _is_plain(value, ())


def _is_plain(value: Any, around: tuple[int, ...]) -> bool:
    """``around`` are the ids of the containers around the value; a value that contains itself is not plain."""
    if isinstance(value, (*_PLAIN, torch.Tensor, np.ndarray)):
        return True
    inside = own_attributes(value)
    if isinstance(value, dict):
        inside = [*value.keys(), *value.values()]
    elif isinstance(value, (list, tuple, set, frozenset, collections.deque)):
        inside = value
    elif inside is not None:
        inside = inside.values()
    if inside is None or id(value) in around:
        return False
    return all(_is_plain(item, (*around, id(value))) for item in inside)


def own_attributes(value):
    """The attributes of an object of a class of the program; None for other values, modules and enum members."""
    kind = type(value)
    if not (kind.__module__.startswith(MODULE_PREFIX) or kind is types.SimpleNamespace):
        return None
    if isinstance(value, (torch.nn.Module, torch.Tensor, enum.Enum, BaseException, type)):
        return None
    return getattr(value, "__dict__", None)


class SavedGlobals:
    """A snapshot of what a program's functions may change besides their arguments.

    It has the plain globals of the module, the values in cells and defaults of functions, and attributes of classes.
    """

    def __init__(self, namespace: dict[str, Any]) -> None:
        self._namespace = namespace
        self._names = set(namespace)
        self._objects = plain_globals(namespace)
        self._kept: dict[int, Any] = {}
        for value in [*self._objects.values(), *functions(namespace).values()]:
            keep(value, self._kept, namespace.get("__name__"))

    def restore(self) -> None:
        """Restore every value in place; plain globals added since the snapshot are removed."""
        for name in plain_globals(self._namespace).keys() - self._names:
            del self._namespace[name]
        self._namespace.update(self._objects)
        put_back(self._kept)


def functions(namespace: dict[str, Any]) -> dict[str, Any]:
    """The functions and classes that a program's module defines, by name."""
    own = namespace.get("__name__")
    kinds = (types.FunctionType, type)
    return {n: v for n, v in namespace.items() if isinstance(v, kinds) and getattr(v, "__module__", None) == own}


def stateful_definitions(namespace: dict[str, Any], source: str) -> list[str]:
    """Names of the functions and classes that hold a value which a call may change."""
    nodes = list(ast.walk(parse(source)))
    fixed: tuple[type, ...] = ()
    if not any(isinstance(node, ast.Nonlocal) for node in nodes):
        fixed += (types.CellType,)
    if all(_names_self(node.value) for node in nodes if isinstance(node, ast.Attribute) and _is_stored(node)):
        fixed += (type,)
    names = []
    for name, value in functions(namespace).items():
        snapshot: dict[int, Any] = {}
        keep(value, snapshot, namespace.get("__name__"))
        if any(held and not isinstance(thing, fixed) for thing, held in snapshot.values()):
            names.append(name)
    return sorted(names)


def _is_stored(node: ast.Attribute) -> bool:
    return isinstance(node.ctx, ast.Store)


def _names_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def globals_made_in_calls(namespace: dict[str, Any], source: str) -> set[str]:
    """Names of globals that do not exist before one of the program's functions is called."""
    declared = [node.names for node in ast.walk(parse(source)) if isinstance(node, ast.Global)]
    return {name for names in declared for name in names} - namespace.keys()
