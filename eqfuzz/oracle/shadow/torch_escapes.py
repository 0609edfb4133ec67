"""The doors out of torch that the dispatcher does not see, and the control flow that it cannot follow."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, Protocol

import torch
from torch.overrides import TorchFunctionMode

from eqfuzz.torch_internals.control_flow import control_flow_by


class Watcher(Protocol):
    """Who is told: whether a tensor is rounded, what left torch, when not to watch."""

    exported: bool
    opaque: str
    paused: bool

    def noisy(self, value: torch.Tensor) -> bool: ...

    def measured(self, number: Any) -> Any: ...


class TorchEscapes(TorchFunctionMode):
    """Watches the doors that the dispatcher does not see: numpy, lists and printing."""

    def __init__(self, mode: Watcher) -> None:
        super().__init__()
        self._mode = mode

    def __torch_function__(self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        name = getattr(func, "__name__", "")
        mode = self._mode
        if name in ("numpy", "__array__", "tolist") and args and isinstance(args[0], torch.Tensor):
            noisy = mode.noisy(args[0])
            if name != "tolist":
                mode.exported = mode.exported or noisy or args[0].is_floating_point()
            elif noisy:
                mode.opaque = mode.opaque or "rounded numbers leave torch through tolist()"
        elif name == "item":
            return mode.measured(func(*args, **(kwargs or {})))
        elif name in ("__repr__", "__format__", "__str__"):
            mode.paused, before = True, mode.paused
            try:
                return func(*args, **(kwargs or {}))
            finally:
                mode.paused = before
        return func(*args, **(kwargs or {}))


@contextlib.contextmanager
def plain_control_flow() -> Iterator[None]:
    """``torch.cond`` and ``while_loop`` as plain Python: in eager they go through Dynamo, where no mode can follow."""

    def cond(pred: Any, true_fn: Any, false_fn: Any, operands: Any = ()) -> Any:
        return true_fn(*operands) if bool(pred) else false_fn(*operands)

    def while_loop(cond_fn: Any, body_fn: Any, carried_inputs: Any) -> Any:
        carried = tuple(carried_inputs)
        while bool(cond_fn(*carried)):
            carried = body_fn(*carried)
            carried = tuple(carried) if isinstance(carried, (list, tuple)) else (carried,)
        return carried

    with control_flow_by(cond, while_loop):
        yield
