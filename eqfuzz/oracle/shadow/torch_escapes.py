"""Exits from torch that the dispatcher does not see (numpy, lists, printing), and control flow it cannot follow."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, Protocol

import torch
from torch.overrides import TorchFunctionMode

from eqfuzz.oracle.shadow.exported_memory import ExportedMemory
from eqfuzz.torch_internals.control_flow import control_flow_by


class Watcher(Protocol):
    """The mode that is informed. ``exported``: numbers went to numpy, or whole ones alone; ``paused``: operators are
    not shadowed.
    """

    exported: bool
    exported_integers: bool
    paused: bool
    exports: ExportedMemory

    def noisy(self, value: torch.Tensor) -> bool: ...

    def lose_track(self, reason: str) -> None: ...

    def tracked(self, number: Any) -> Any: ...


class TorchEscapes(TorchFunctionMode):
    """Intercepts conversions to numpy, lists, Python numbers and text."""

    def __init__(self, mode: Watcher) -> None:
        super().__init__()
        self._mode = mode

    def __torch_function__(self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        name = getattr(func, "__name__", "")
        mode = self._mode
        if name in ("numpy", "__array__", "tolist") and args and isinstance(args[0], torch.Tensor):
            noisy = mode.noisy(args[0])
            if name != "tolist":
                mode.exports.export(args[0])
                if noisy or args[0].is_floating_point() or args[0].is_complex():
                    mode.exported = True
                else:
                    mode.exported_integers = True
            elif noisy:
                mode.lose_track("rounded numbers leave torch through tolist()")
        elif name == "item":
            return mode.tracked(func(*args, **(kwargs or {})))
        elif name in ("__repr__", "__format__", "__str__"):
            mode.paused, before = True, mode.paused
            try:
                return func(*args, **(kwargs or {}))
            finally:
                mode.paused = before
        return func(*args, **(kwargs or {}))


@contextlib.contextmanager
def plain_control_flow() -> Iterator[None]:
    """Run ``torch.cond`` and ``while_loop`` as plain Python: in eager they use Dynamo, where no mode is active."""

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
