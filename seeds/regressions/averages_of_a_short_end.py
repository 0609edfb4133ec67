"""Averages of pairs, of which the last is single (docs/findings/123)."""

import torch.nn.functional as F


def program(x):
    return F.avg_pool1d(x, 2, ceil_mode=True)


def inputs(rng):
    yield (rng.normal(1, 2, 5).requires_grad_(),)
