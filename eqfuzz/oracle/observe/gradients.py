"""Gradients of a call: their inputs, cotangents and names, for observations and references alike."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from eqfuzz.oracle.observe.leaves import path_in, tensors
from eqfuzz.torch_internals.modes import outside_modes
from eqfuzz.torch_internals.tensors import has_history

GOLDEN = 0.6180339887498949
"""The golden ratio less one."""


def cotangent(output: torch.Tensor) -> torch.Tensor:
    """The fixed cotangent of ``output``: different numbers from 0.5 to 1.5, of its shape and dtype.

    They are multiples of the golden ratio. Equal steps would be rounded alike in a plain sum, whose errors then add up.
    """
    numbers = torch.arange(output.numel(), dtype=torch.float64) * GOLDEN % 1 + 0.5
    return numbers.reshape(output.shape).to(device=output.device, dtype=output.dtype)


@dataclasses.dataclass(frozen=True)
class Backward:
    """A backward pass: gradients of ``outputs`` along ``cotangents`` with respect to ``wrt``, named by ``paths``."""

    outputs: list[torch.Tensor]
    cotangents: list[torch.Tensor]
    wrt: list[torch.Tensor]
    paths: list[str]
    name: str = "gradient"


def differentiable(arguments: dict[str, Any], model: torch.nn.Module | None) -> list[tuple[str, torch.Tensor]]:
    """Leaves of the arguments (by path prefix) and parameters that require a gradient, each once."""
    named = [pair for prefix, value in arguments.items() for pair in tensors(value, prefix)]
    if model is not None:
        named += [(path_in(model, name), parameter) for name, parameter in model.named_parameters()]
    seen: set[int] = set()
    distinct = []
    for path, tensor in named:
        if tensor.requires_grad and tensor.is_leaf and id(tensor) not in seen:
            seen.add(id(tensor))
            distinct.append((path, tensor))
    return distinct


def plan(result: Any, wrt: list[tuple[str, torch.Tensor]]) -> Backward | None:
    """The backward pass of a returned value; None without differentiable outputs or inputs."""
    outputs = [leaf for _, leaf in tensors(result, "output") if has_history(leaf) and _continuous(leaf.dtype)]
    outputs = [leaf for leaf in outputs if leaf.layout is torch.strided]
    if not outputs or not wrt:
        return None
    with torch.no_grad():
        along = [cotangent(output) for output in outputs]
    return Backward(outputs, along, [tensor for _, tensor in wrt], [path for path, _ in wrt])


def run(backward: Backward, *, again: bool = False) -> list[tuple[str, torch.Tensor | None]]:
    """``(path, gradient)`` pairs; None for an input on which no output depends. Raises what autograd raises.

    ``again`` records a graph of the pass itself, so that its gradients can be differentiated.
    """
    gradients = torch.autograd.grad(
        backward.outputs, backward.wrt, grad_outputs=backward.cotangents, allow_unused=True, create_graph=again
    )
    return [(f"{backward.name} of {path}", gradient) for path, gradient in zip(backward.paths, gradients, strict=True)]


def run_keeping(backward: Backward, keep: Callable[[torch.Tensor | None], Any]) -> list[tuple[str, Any]]:
    """The pairs of ``run``, each gradient passed through ``keep`` and freed as soon as it is complete.

    Of a large model all gradients together take much memory. Raises what autograd and ``keep`` raise.
    """
    leaves: dict[int, Any] = {}

    def take(position: int, gradient: torch.Tensor) -> torch.Tensor | None:
        if gradient.layout is not torch.strided:
            return None
        with outside_modes():  # a hook runs where the backward pass does
            leaves[position] = keep(gradient)
        # Autograd holds what a hook returns until its end.
        return torch.zeros((), dtype=gradient.dtype, device=gradient.device).expand(gradient.shape)

    hooks = [tensor.register_hook(partial(take, position)) for position, tensor in enumerate(backward.wrt)]
    try:
        pairs = run(backward)
    finally:
        for hook in hooks:
            hook.remove()
    return [
        (path, leaves[position] if position in leaves else keep(gradient))
        for position, (path, gradient) in enumerate(pairs)
    ]


def plan_second(gradients: list[tuple[str, torch.Tensor | None]], first: Backward) -> Backward | None:
    """The backward pass of the gradients of ``first``; None if none of them is differentiable."""
    outputs = [gradient for _, gradient in gradients if gradient is not None and gradient.requires_grad]
    if not outputs:
        return None
    with torch.no_grad():
        along = [cotangent(output) for output in outputs]
    return Backward(outputs, along, first.wrt, first.paths, "second gradient")


def accumulated(wrt: list[tuple[str, torch.Tensor]]) -> list[tuple[str, torch.Tensor]]:
    """``.grad`` of the leaves, where the program itself called backward."""
    return [(f"{path}.grad", tensor.grad) for path, tensor in wrt if tensor.grad is not None]


def _continuous(dtype: torch.dtype) -> bool:
    return dtype.is_floating_point or dtype.is_complex
