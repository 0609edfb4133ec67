"""Shares that are added to counts (docs/findings/107)."""

import torch

refuses = True


def program(counts, rows, shares):
    return counts.index_add(0, rows, shares)


def inputs(rng):
    yield rng.integers(0, 9, 5), torch.tensor([0, 3]), rng.uniform(2)
