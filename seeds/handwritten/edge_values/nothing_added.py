"""Zero added to, and one multiplied with, what is returned: results are new tensors."""

import torch


def program(x, y):
    return x + torch.zeros_like(x), y * torch.ones_like(y), y - 0


def inputs(rng):
    yield rng.normal(3, 4), rng.normal(5)
