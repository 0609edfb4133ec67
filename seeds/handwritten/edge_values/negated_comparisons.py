"""Comparisons with ties and NaN, negated, joined by logic and counted, and what they select."""

import torch


def program(x, y, z):
    above = ~(x <= y)
    below = ~(x >= y)
    differ = ~(x == y)
    known = torch.logical_not(z != z)
    both = torch.logical_and(above, known)
    either = torch.logical_or(below, known)
    every = ~(~either).any()
    some = both.sum() > 0
    chosen = torch.where(~above, y, x)
    filled = torch.where(differ, 0.5, x)
    capped = torch.where(~(x < y), torch.full_like(x, 2.0), x) + torch.nan_to_num(z)
    return capped, chosen - filled, above != known, every, some, torch.logical_not(x).sum(dim=1)


def inputs(rng):
    yield (
        rng.integers(0, 4, 6, 33, dtype=torch.float32),
        rng.integers(0, 4, 6, 33, dtype=torch.float32),
        rng.choice([1.0, -0.0, float("inf"), float("nan")], 6, 33),
    )
