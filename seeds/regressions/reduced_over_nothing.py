"""Rows that a mask selects, reduced over a list of dimensions that is empty (docs/findings/019)."""

import torch

DIMENSIONS = ()


def program(mask, rows):
    selected = torch.any(mask, dim=DIMENSIONS)
    return torch.where(selected, rows, 0.0)


def inputs(rng):
    yield rng.booleans(4, 3), rng.normal(4, 3)
