"""Rows of a matrix, each in a tensor of its own (docs/findings/142)."""

import torch


def program(x):
    return torch.unbind_copy(x * 2)


def inputs(rng):
    yield (rng.normal(3, 2),)
