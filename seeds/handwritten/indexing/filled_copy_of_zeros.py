"""Rows of a constant filled by index, beside the constant joined with something else."""

import torch


def program(x, rows):
    zeros = torch.zeros_like(x)
    filled = zeros.index_fill(0, rows, 1)
    return torch.cat([zeros, x]), filled, filled + x


def inputs(rng):
    yield rng.normal(5, 6), rng.integers(0, 4, 3)
