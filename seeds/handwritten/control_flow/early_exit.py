"""Branches on values of tensors: a cheap path, an expensive path and a return in the middle."""

import torch


def adjusted(y, level):
    if level > 2:
        y = y + 1
    else:
        if level > 0:
            y = y - 1
        else:
            y = y * 2
    if level == 1 or level == 3:
        y = y + 2
    elif level > 3:
        y = y / 2
    if level > 0:
        if y.dim() > 1:
            y = y + level
    if 0 < level <= 3:
        shifted = y + 0.5
        y = shifted * 2
    else:
        shifted = y - 0.5
        y = shifted * 2
    rank = level and y.dim()
    if y.shape[0] > 4:
        return y * rank
    else:
        return y


def program(x, limit):
    energy = (x * x).mean()
    if energy < 0.5:
        return x * 2 + 1, "cheap"
    y = torch.tanh(x) @ x.transpose(0, 1)
    if bool((limit > 2).any()) and y.shape[0] > 3:
        y = y / limit.max()
    else:
        y = y - limit.sum()
    y = adjusted(y, int(limit[0]))
    return torch.relu(y) + energy, "expensive"


def inputs(rng):
    yield rng.uniform(5, 4, low=2, high=3), rng.integers(0, 3, 6, dtype=torch.float32)
    yield rng.uniform(5, 4, high=0.2), rng.integers(0, 3, 6, dtype=torch.float32)
    yield rng.uniform(5, 4, low=2, high=3), rng.integers(5, 9, 6, dtype=torch.float32)
