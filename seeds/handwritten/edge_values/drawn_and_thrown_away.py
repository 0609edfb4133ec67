"""Numbers that nothing uses are drawn all the same: what is drawn after them depends on it."""

import torch


def program(x):
    torch.empty(3).bernoulli_(0.5)
    return x + torch.rand(x.shape)


def inputs(rng):
    yield rng.normal(5)
