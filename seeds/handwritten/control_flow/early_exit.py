"""Branches on values of tensors: a cheap path, an expensive path and a return in the middle."""

import torch


def program(x, limit):
    energy = (x * x).mean()
    if energy < 0.5:
        return x * 2 + 1, "cheap"
    y = torch.tanh(x) @ x.transpose(0, 1)
    if bool((limit > 2).any()) and y.shape[0] > 3:
        y = y / limit.max()
    else:
        y = y - limit.sum()
    return torch.relu(y) + energy, "expensive"


def inputs(rng):
    yield rng.uniform(5, 4, low=2, high=3), rng.integers(0, 3, 6, dtype=torch.float32)
    yield rng.uniform(5, 4, high=0.2), rng.integers(0, 3, 6, dtype=torch.float32)
    yield rng.uniform(5, 4, low=2, high=3), rng.integers(5, 9, 6, dtype=torch.float32)
