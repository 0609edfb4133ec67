"""Boolean selection, nonzero and unique, whose sizes depend on the data."""

import torch


def program(x, labels):
    chosen = x[labels > 2]
    total = chosen.sum(dim=0)
    rows, columns = torch.nonzero(x > 0, as_tuple=True)
    crossing = (rows * 10 + columns).sum() % 1000
    kinds, counts = torch.unique(labels, return_counts=True)
    flat = torch.masked_select(x, x < 0)
    return total * 2, crossing, kinds + counts, flat.abs().amax(), torch.argwhere(labels == 3).numel()


def inputs(rng):
    yield rng.normal(12, 6), rng.permutation(12) % 6
    yield rng.normal(18, 4), rng.permutation(18) % 5
