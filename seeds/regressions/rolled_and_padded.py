"""Columns that are rolled there and back, and padded (docs/findings/095)."""

import torch.nn.functional as F


def program(x):
    return F.pad(x.transpose(-2, -1).roll(1, -1).roll(-1, -1), (1, 0))[..., 1:]


def inputs(rng):
    for n in (5, 9):
        yield rng.normal(1, n, 1, n, 17)
