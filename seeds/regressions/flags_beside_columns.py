"""Flags of rows beside those of columns (docs/findings/100)."""

import torch


def program(x, y):
    return torch.logical_xor(x.expand(2, 5, 10), y.mT)


def inputs(rng):
    yield rng.normal(2, 5, 1), rng.normal(2, 10, 5)
