"""Saving and restoring values in place, because a program's functions may refer to the same objects.

The two functions are also part of reproducers, so they use nothing else of eqfuzz.
"""

from __future__ import annotations

import collections
import contextlib
import copy
import inspect
import types

import torch


def keep(value, snapshot, own):
    """Save in `snapshot` the contents of a value, and of functions, classes and objects of the module `own`."""
    if id(value) in snapshot:
        return
    held, inside = None, ()
    if isinstance(value, torch.Tensor):
        if value.layout is torch.strided and not value.is_meta:
            grad = value.grad if value.is_leaf else None
            held = value.detach().clone(), value.requires_grad, None if grad is None else grad.clone()
    elif isinstance(value, dict):
        held = dict(value)
        inside = held.values()
    elif isinstance(value, (list, set, collections.deque)):
        held = inside = list(value)
    elif isinstance(value, (tuple, frozenset)):
        inside = value
    elif isinstance(value, types.CellType):
        try:
            held = inside = [value.cell_contents]
        except ValueError:  # nothing is in it yet
            held = []
    elif isinstance(value, types.FunctionType) and value.__globals__.get("__name__") == own:
        inside = [*(value.__closure__ or ()), *(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values()]
    elif isinstance(value, type) and value.__module__ == own:
        held = {name: item for name, item in vars(value).items() if name[:2] != "__" and not hasattr(item, "__get__")}
        inside = [*held.values(), *(getattr(i, "__func__", i) for i in vars(value).values() if hasattr(i, "__get__"))]
    elif type(value).__module__ == own and hasattr(value, "__dict__"):
        inside = [vars(value)]
    elif type(value).__name__ == "ndarray":
        held = copy.copy(value)
    snapshot[id(value)] = value, held
    for item in inside:
        keep(item, snapshot, own)


def put_back(snapshot):
    """Give every object in `snapshot` its saved contents; objects keep their identity."""
    for value, held in snapshot.values():
        if held is None:
            continue
        if isinstance(value, torch.Tensor):
            values, needs_grad, grad = held
            if value.grad_fn is not None and not needs_grad:
                with contextlib.suppress(RuntimeError):  # of a view, which follows its base
                    value.detach_()
            if value.shape != values.shape or value.dtype != values.dtype:
                value.data = values.clone()
            elif not torch.equal(value, values):
                value.detach().copy_(values)
            if value.is_leaf:
                value.requires_grad_(needs_grad)
                value.grad = None if grad is None else grad.clone()
        elif isinstance(value, (dict, set)):
            value.clear()
            value.update(held)
        elif isinstance(value, collections.deque):
            value.clear()
            value.extend(held)
        elif isinstance(value, types.CellType):
            if held:
                value.cell_contents = held[0]
        elif isinstance(value, type):
            for name, item in held.items():
                if vars(value).get(name) is not item:
                    setattr(value, name, item)
        else:
            value[slice(None) if isinstance(value, list) else ...] = held


RESTORING = f"{inspect.getsource(keep)}\n\n{inspect.getsource(put_back)}"
"""Their source, for a script that imports ``collections``, ``contextlib``, ``copy``, ``torch`` and ``types``."""
