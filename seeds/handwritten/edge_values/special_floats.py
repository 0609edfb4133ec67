"""Subnormal, huge, infinite and signed-zero values through exact and monotone operations."""

import torch


def program(x, y):
    smaller = torch.minimum(x, y)
    product = x * y
    half = x / 2
    doubled = half + half
    ordered = (x < y) | (x == y)
    picked = torch.where(ordered, y, x)
    outside = torch.abs(x) > 1e20
    return smaller, product, doubled, picked - picked, outside & ~ordered, torch.isinf(product).sum(dim=1)


def inputs(rng):
    yield rng.special(8, 40), rng.special(8, 40)
    yield rng.special(3, 5), rng.special(5)
