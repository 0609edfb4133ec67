"""Two relu branches added back to their input, on 2,048 elements."""

import torch
import torch.nn.functional as F


def program(x, scale, shift):
    left = F.relu(x * scale + shift)
    right = torch.relu(-x)
    merged = left - right + x / 2
    capped = torch.minimum(merged, torch.full_like(merged, 6.0))
    return capped, F.relu(capped) * (x > 0), left.sum(dim=-1) - right.sum(dim=-1)


def inputs(rng):
    yield rng.normal(32, 64), rng.uniform(64, low=0.5, high=1.5), rng.normal(64)
    yield rng.normal(7, 64), rng.uniform(64, low=0.5, high=1.5), rng.normal(64)
