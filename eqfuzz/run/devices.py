"""Programs, arguments and observations on another device, and back."""

from __future__ import annotations

import dataclasses
from typing import Any, TypeVar

import torch
from torch.utils._pytree import tree_map

from eqfuzz.judge.observation import Observation
from eqfuzz.program.call import Call

T = TypeVar("T")


def on_device(value: T, device: str) -> T:
    """A module moved in place, or a call whose tensor arguments are copied; anything else as it is."""
    if isinstance(value, torch.nn.Module):
        return value.to(device)
    if isinstance(value, Call):
        args, kwargs = tree_map(lambda v: _moved(v, device), (value.args, value.kwargs))
        return Call(args, kwargs)  # type: ignore[return-value]
    return value


def to_cpu(observation: Observation) -> Observation:
    """The same observation with every tensor on the CPU, where the one reference is."""

    def bring(leaves: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
        return [(path, _moved(leaf, "cpu")) for path, leaf in leaves]

    calls = [
        dataclasses.replace(
            call,
            outputs=bring(call.outputs),
            inputs_after=bring(call.inputs_after),
            state_after=bring(call.state_after),
            gradients=bring(call.gradients),
        )
        for call in observation.calls
    ]
    return dataclasses.replace(observation, calls=calls)


def _moved(value: Any, device: str) -> Any:
    """A tensor copied to ``device`` with its strides and ``requires_grad``."""
    if not isinstance(value, torch.Tensor):
        return value
    moved = value.detach().to(device)
    if moved.stride() != value.stride():
        moved = torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device=device).copy_(moved)
    return moved.requires_grad_(value.requires_grad)
