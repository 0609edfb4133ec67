"""Pairwise distances through every kind of broadcast: expand, None, repeat, tile, repeat_interleave."""

import torch


def program(points, centres, weights):
    gap = points[:, None, :] - centres[None]
    distance = (gap**2).sum(-1)
    tiled = weights.repeat(points.size(0), 1)
    soft = torch.softmax(-distance * tiled, dim=1)
    spread = soft.unsqueeze(-1) * centres.expand(points.size(0), *centres.shape)
    doubled = torch.repeat_interleave(points, 2, dim=0) + points.tile(2, 1)
    row = centres[0]
    shifted = (points + row[None, :]) * row[None, :] - row.expand(points.size(0), -1) / row.expand(points.shape)
    down, across = torch.meshgrid(weights, row, indexing="ij")
    grid = torch.meshgrid(weights, row, indexing="ij")[0] + torch.meshgrid(row, weights, indexing="ij")[1].t()
    windows = weights.unfold(0, 2, 1).sum(dim=1)
    return shifted, down * across + grid, windows, spread.sum(dim=1), doubled, soft.T.reshape(-1)


def inputs(rng):
    yield rng.normal(9, 3, requires_grad=True), rng.normal(4, 3), rng.uniform(4)
    yield rng.normal(30, 2, requires_grad=True), rng.normal(5, 2), rng.uniform(5)
