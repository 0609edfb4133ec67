"""Sums turned and flattened, tables tiled, rolled, padded, expanded and cut to a triangle."""

import torch
import torch.nn.functional as F


def program(x, y, row):
    turned = (x + y).t()
    line = (x + y).reshape(-1)
    table = line.reshape(4, 6) + x.permute(1, 0).reshape(4, -1)
    grown = torch.exp(x).t() + turned
    tiled = torch.tile(row, (2, 3))
    around = torch.roll(x, shifts=1, dims=0) - torch.roll(x, 2, 1)
    wide = row.expand_as(y) * torch.broadcast_to(row, x.shape)
    lower = torch.tril(x) + y.triu(1)
    stacked = torch.vstack((x, y)) - torch.cat((x, x), dim=0)
    beside = torch.hstack((x, y)) + y.repeat(2, 1).reshape(6, 8)
    bent = torch.tanh(x).reshape(4, 6) + torch.tanh(y.reshape(4, 6))
    pairs = x.unflatten(1, (2, 2)) + y.reshape(y.shape[0], 2, 2)
    square = torch.diag(row) + torch.stack((x[0], x[1], x[2], x[3]))
    turns = torch.rot90(x) - y.t().flip(0)
    return (
        stacked,
        beside,
        bent[:, ::2],
        pairs,
        square,
        turns,
        grown,
        table,
        tiled,
        around,
        wide + lower,
        F.pad(table, (1, 2)),
    )


def inputs(rng):
    yield rng.normal(6, 4), rng.normal(6, 4), rng.normal(4)
