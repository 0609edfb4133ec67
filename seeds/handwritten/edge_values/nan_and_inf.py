"""NaN and infinities through arithmetic, comparisons, extremes, clamps and nan-aware sums."""

import torch


def program(x, y):
    both = x + y
    top = torch.maximum(x, y)
    known = torch.where(torch.isfinite(both), both, torch.zeros_like(both))
    clipped = x.clamp(-2, 2)
    filled = torch.nan_to_num(x * y, nan=0.5, posinf=9.0, neginf=-9.0)
    worst = x.amax(dim=1)
    return (
        both,
        top,
        known,
        clipped,
        filled,
        worst,
        torch.isnan(x) | (x != y),
        (x == x).sum(dim=0),
        torch.relu(y),
    )


def inputs(rng):
    table = rng.normal(6, 40)
    table[0, :5] = float("nan")
    table[2] = float("inf")
    table[3, ::2] = float("-inf")
    yield table, rng.choice([0.0, 1.0, -1.0, float("inf"), float("nan")], 6, 40)
