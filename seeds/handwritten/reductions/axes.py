"""Sums and means over several axes at once, kept and dropped, of a 4-D batch of positive values."""

import torch


def program(x):
    per_channel = x.mean(dim=(0, 2, 3))
    per_image = x.sum(dim=(1, 2, 3), keepdim=True)
    share = x / per_image
    norms = torch.linalg.vector_norm(x, dim=(2, 3))
    euclid = (x**2).sum((2, 3)) ** 0.5
    ratio = norms / euclid
    return per_channel, share.amax(dim=(2, 3)), ratio, x.prod(dim=1).sqrt(), torch.max(x) - torch.min(x)


def inputs(rng):
    yield rng.uniform(3, 4, 9, 11, low=0.5, high=1.5)
    yield rng.uniform(2, 4, 8, 8, low=0.5, high=1.5)
