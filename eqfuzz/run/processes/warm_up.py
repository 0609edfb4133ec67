"""Warm-up: compilations at the start of a fork server, so that its children do not pay for the first.

``begin`` pays for the pattern matchers' tables, the probes for the CPU's vector width, the precompiled header,
the hash of torch's sources; ``broaden`` for modules that the compiler imports when it first needs them, and for its
caches of operators, dtypes and index expressions.
"""

from __future__ import annotations

import importlib

import torch
from torch.nn import functional

from eqfuzz.torch_internals.inductor import forget_compiles
from eqfuzz.torch_internals.options import without_graph_caches


def warm_up(cuda: bool, *, changed: bool) -> None:
    """Compile on the CPU, with ``cuda`` on the GPU too; without, also some typical programs.

    If a preload has ``changed`` the compiler, the typical programs are left out: they might end this process, and
    faults are for seeds to detect. The graph caches are off: a hit would skip passes.
    """
    importlib.import_module("sympy.physics.units")  # sympy.simplify does, when it is first called
    with without_graph_caches():
        begin("cpu")
        if cuda:
            begin("cuda")
        elif not changed:
            broaden()
    forget_compiles()


def begin(device: str) -> None:
    """Compile a program of a few operators, with and without gradients, and run it."""

    def tiny(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return torch.sin(x @ w).sum()

    x = torch.ones(4, 4, device=device)
    w = torch.full((4, 4), 0.5, device=device, requires_grad=True)
    torch.compile(tiny)(x, w).backward()
    torch.compile(tiny)(x, w.detach())


def broaden() -> None:
    """Compile typical programs, with and without gradients; the kernels are neither built nor run."""
    from eqfuzz.torch_internals.cpp_kernels import kernels_left_out

    x, w, i = torch.full((6, 10), 0.5), torch.full((10, 6), 0.25), torch.arange(6)
    with kernels_left_out():
        torch.compile(_of_many_kinds)(x, w, i)
        torch.compile(_with_gradient)(x.requires_grad_(), w, i).backward()


def _of_many_kinds(x: torch.Tensor, w: torch.Tensor, i: torch.Tensor) -> tuple[torch.Tensor, ...]:
    a = torch.softmax(x @ w, -1) + x.sum(1, keepdim=True)
    b = torch.cat([a.transpose(0, 1), a.amax(0, keepdim=True) - a])[i]
    c = torch.where(b > 0, b, torch.relu(a)) * torch.cumsum(b, 0)
    d = functional.layer_norm(c, c.shape[-1:]).view(-1)
    return c.mean(), torch.sigmoid(d).to(torch.float64), x[1:, ::2].argmax(1), x.flip(0).var(0), d.half() * 2, i // 4


def _with_gradient(x: torch.Tensor, w: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
    return (functional.gelu(x @ w) * torch.tanh(x[:, :6])).log_softmax(-1)[i].square().mean()
