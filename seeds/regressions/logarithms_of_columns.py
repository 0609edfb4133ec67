"""Weighted logarithms of columns (docs/findings/099)."""

import torch


def program(x, y):
    return torch.xlogy(x.t(), y)


def inputs(rng):
    yield rng.uniform(3, 4), rng.uniform(4, 3)
