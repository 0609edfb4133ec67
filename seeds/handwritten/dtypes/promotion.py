"""Sums, products and quotients of bool, int8, int32, int64, float16 and float32 that promote one another."""

import torch


def program(flags, small, medium, large, half, full):
    a = flags + small
    b = small * medium - 1
    c = large / 4 + half
    d = half * 0.5 + full
    e = torch.where(flags, medium, small) // 3
    f = torch.cat([a.to(torch.int64), large % 5], dim=0)
    return a, b, c, d, e, f.sum(dim=0), (small > 2) * full, medium**2 + flags


def inputs(rng):
    yield (
        rng.booleans(4, 18),
        rng.integers(-10, 10, 4, 18, dtype=torch.int8),
        rng.integers(-10, 10, 4, 18, dtype=torch.int32),
        rng.integers(-10, 10, 4, 18),
        rng.integers(-8, 9, 4, 18, dtype=torch.float16),
        rng.integers(-8, 9, 4, 18, dtype=torch.float32),
    )
