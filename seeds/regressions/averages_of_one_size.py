"""Averages of squares whose padding is a list of one number (docs/findings/124)."""

import torch.nn.functional as F


def program(x):
    return F.avg_pool2d(x, 2, padding=[1])


def inputs(rng):
    yield (rng.normal(1, 2, 4, 4).requires_grad_(),)
