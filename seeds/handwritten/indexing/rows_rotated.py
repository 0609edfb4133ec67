"""Each row moves to the place of the next, into a copy of the tensor that the rows come from."""

import torch


def program(x):
    rows = x.cos()
    return torch.index_put(rows, (torch.tensor([1, 2, 3, 0]),), rows)


def inputs(rng):
    yield (rng.normal(4, 3),)
