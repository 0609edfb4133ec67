"""Rows chosen by positions that must be numbers (docs/findings/104)."""

import torch


def program(x):
    position = torch.arange(5) * 0.5
    position = torch.where(position.isnan() & (position >= 1), 0.0, position)
    return x[position.long()]


def inputs(rng):
    yield (rng.normal(5, 3),)
