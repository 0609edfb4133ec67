"""A copied view of columns (docs/findings/092)."""

import torch


def program(x):
    return torch.view_copy(x.transpose(-2, -1), (5, 17, 5))


def inputs(rng):
    yield rng.normal(1, 5, 1, 5, 17)
