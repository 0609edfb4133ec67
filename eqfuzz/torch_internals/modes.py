"""Modes and function transforms between a program and torch's operators."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import torch
from torch.utils._python_dispatch import TorchDispatchMode

__all__ = ["TorchDispatchMode", "is_inside_transform", "modes_are_active", "outside_modes"]


def is_inside_transform(tensor: torch.Tensor) -> bool:
    """Whether ``torch.func`` has wrapped it (vmap, grad): its values cannot be read."""
    return torch._C._functorch.is_functorch_wrapped_tensor(tensor)  # type: ignore[attr-defined]


@contextlib.contextmanager
def outside_modes() -> Iterator[None]:
    """The context in which no torch-function mode and no dispatch mode sees an operator."""
    with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():  # type: ignore[attr-defined]
        yield


def modes_are_active() -> bool:
    """Whether a torch-function mode, a dispatch mode or a function transform has been entered and not left."""
    stacks = torch._C._len_torch_function_stack() or torch._C._len_torch_dispatch_stack()
    return bool(stacks) or torch._C._functorch.peek_interpreter_stack() is not None  # type: ignore[attr-defined]
