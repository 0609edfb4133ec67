"""Boolean masks built from positions and compared with each other.

A known compiler defect is found from it: torch 2.13 raises ``InductorError: TypeError`` on a CPU when
``==`` compares two bool expressions of one kernel (pytorch #188231).
"""

import torch


def program(x, width):
    n = x.shape[-1]
    position = torch.arange(n, device=x.device)
    near = (position[None, :] - position[:, None]).abs() < width
    causal = position[None, :] <= position[:, None]
    agree = near == causal
    kept = torch.where(agree, x, -x)
    return kept.sum(dim=-1), agree.sum(dim=0), (kept * 2 + 1) * near


def inputs(rng):
    yield rng.integers(-9, 10, 2, 10, 10, dtype=torch.float32), 3
