"""A copy that is changed in a later graph, after a branch: backward still needs what it was copied from."""

import torch


def program(x):
    kept = torch.tanh(x).clone()
    if kept.sum() > -100:
        kept.mul_(2)
    return kept


def inputs(rng):
    yield (rng.normal(5, 9, requires_grad=True),)
