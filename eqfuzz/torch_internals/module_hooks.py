"""Hooks of modules."""

from __future__ import annotations

import torch

_HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")


def runs_only_forward(module: torch.nn.Module) -> bool:
    """Whether calling ``module`` is calling the ``forward`` of its class: no hooks, nothing put over ``forward``."""
    own = any(vars(module).get(name) for name in (*_HOOKS, "forward"))
    return not own and not any(getattr(torch.nn.modules.module, f"_global{name}") for name in _HOOKS)
