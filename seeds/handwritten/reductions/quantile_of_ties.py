"""The upper median of each row of whole numbers, several of which are equal to it."""

import torch


def program(x):
    return torch.quantile(x, 0.5, dim=1, interpolation="higher")


def inputs(rng):
    yield (rng.integers(-3, 4, 6, 17).to(torch.float32).requires_grad_(),)
