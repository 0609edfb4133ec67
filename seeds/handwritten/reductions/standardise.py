"""Rows scaled to zero mean and unit variance, beside their extremes."""

import torch


def program(x):
    mean = x.mean(dim=-1, keepdim=True)
    centred = x - mean
    variance = (centred * centred).sum(dim=-1, keepdim=True) / (x.shape[-1] - 1)
    scaled = centred / torch.sqrt(variance + 1e-5)
    spread = x.amax(dim=1) - x.amin(dim=1)
    return scaled, spread, torch.var(x, dim=0), x.std(dim=1).mean()


def inputs(rng):
    yield rng.normal(16, 70)
    yield rng.normal(5, 70)
