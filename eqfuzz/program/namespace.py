"""The globals of a program's module: plain values that it may change, kept and put back."""

from __future__ import annotations

import copy
import sys
import types
from typing import Any

import numpy as np
import torch

MODULE_PREFIX = "eqfuzz_seed_"
"""How the modules that programs are executed in are named."""

_PLAIN = (bool, int, float, complex, str, bytes, type(None), np.generic)


def namespace_of(target: Any) -> dict[str, Any]:
    """The globals of the program that ``target``, its function or module, is defined in; empty for torch's own."""
    owner = target if isinstance(target, types.FunctionType) else type(target)
    name = getattr(owner, "__module__", None) or ""
    return vars(sys.modules[name]) if name.startswith(MODULE_PREFIX) and name in sys.modules else {}


def plain_globals(namespace: dict[str, Any]) -> dict[str, Any]:
    """What a program may count, cache or accumulate in: numbers, text, tensors, and containers of these."""
    return {name: value for name, value in namespace.items() if not name.startswith("__") and is_plain(value)}


def is_plain(value: Any) -> bool:
    """Whether a value is data throughout, so that it can be copied and compared."""
    if isinstance(value, (list, tuple, set, frozenset)):
        return all(is_plain(item) for item in value)
    if isinstance(value, dict):
        return all(is_plain(item) for item in (*value.keys(), *value.values()))
    return isinstance(value, (*_PLAIN, torch.Tensor, np.ndarray))


class SavedGlobals:
    """The plain globals of a namespace at one moment.

    Restoring works in place wherever a value can be changed in place, since functions may hold on to the same object.
    """

    def __init__(self, namespace: dict[str, Any]) -> None:
        self._namespace = namespace
        self._names = set(namespace)
        self._values: dict[str, Any] = {}
        for name, value in plain_globals(namespace).items():
            try:
                self._values[name] = copy.deepcopy(value)
            except RuntimeError:  # a tensor that autograd computed: torch does not copy it
                continue
        self._objects = {name: namespace[name] for name in self._values}

    def restore(self) -> None:
        """Put every value back; plain names that have come since are removed."""
        for name in plain_globals(self._namespace).keys() - self._names:
            del self._namespace[name]
        for name, value in self._values.items():
            self._namespace[name] = _restored(self._objects[name], value)


def _restored(changed: Any, saved: Any) -> Any:
    if isinstance(saved, list):
        changed[:] = copy.deepcopy(saved)
    elif isinstance(saved, (dict, set)):
        changed.clear()
        changed.update(copy.deepcopy(saved))
    elif isinstance(saved, np.ndarray) and changed.shape == saved.shape:
        changed[...] = saved
    elif isinstance(saved, torch.Tensor) and (changed.shape, changed.dtype) == (saved.shape, saved.dtype):
        with torch.no_grad():
            if not torch.equal(changed, saved):
                changed.copy_(saved)
        changed.grad = None if saved.grad is None else saved.grad.clone()
    else:
        return copy.deepcopy(saved)
    return changed
