"""Centres, spreads, steps and order of rows: variance, deviation, norms, differences, sorted values."""

import torch


def program(x, counts):
    centred = x - x.mean(dim=1).unsqueeze(1)
    share = x.abs() / x.abs().sum(dim=1).unsqueeze(1)
    gap = x.amax(dim=1).unsqueeze(1) - x
    ratio = torch.std(x, dim=1) / (1 + torch.var(centred, dim=1))
    average = x.sum(dim=0) / x.shape[0]
    overall = x.sum() / x.numel()
    length = torch.linalg.vector_norm(x, dim=1)
    steps = torch.diff(x, dim=1)
    ordered = x.sort(dim=1).values
    used = (counts != 0).sum(dim=1) + counts.sum()
    return share * gap, ratio + length, average - overall, steps + ordered[:, 1:], x.max(dim=1).values, used


def inputs(rng):
    yield rng.normal(5, 40), rng.integers(0, 3, 5, 12)
    yield rng.normal(8, 7), rng.integers(0, 3, 8, 4)
