"""Pairs of index tensors, negative indices, ellipsis, take_along_dim and gather on a 3-D table."""

import torch


def program(x, i, j):
    picked = x[i, :, j]
    outer = x[i[:, None], 0, j[None, :]]
    last = x[..., -1] - x[:, -2, :1]
    index = j.view(1, 1, -1).expand(x.size(0), x.size(1), -1)
    gathered = torch.gather(x, 2, index)
    along = torch.take_along_dim(x, index, dim=2)
    rows = torch.index_select(x, 0, i).sum(dim=(1, 2))
    return picked * 2, outer.t(), last, gathered + along, rows[: i.numel() // 2]


def inputs(rng):
    yield rng.normal(6, 4, 9), rng.integers(-6, 6, 5).abs() % 6, rng.integers(0, 9, 5)
    yield rng.normal(5, 3, 8), rng.integers(0, 5, 7), rng.integers(0, 8, 7)
