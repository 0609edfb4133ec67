"""Dimensions of size 1 squeezed, expanded, reduced and multiplied; a single row and a single column."""

import torch


def program(row, column, lone):
    outer = row * column
    product = column @ row
    spread = lone.expand(3, 1, 4).squeeze(1)
    reduced = outer.mean(dim=1, keepdim=True) - column * row.mean()
    variance = row.var(dim=1, unbiased=False)
    soft = torch.softmax(column, dim=1)
    return outer - product, spread + lone.view(()), reduced + 1, variance, soft, lone.squeeze() / 3


def inputs(rng):
    yield rng.normal(1, 9), rng.normal(5, 1), rng.normal(1, 1, 1)
    yield rng.normal(1, 1), rng.normal(1, 1), rng.normal(1, 1, 1)
