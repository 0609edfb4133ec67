"""Writing through slices, masks and index tensors into a copy."""

import torch


def program(x, index, update):
    y = x.clone()
    y[1:-1, ::3] = 0.5
    y[x > 1.5] = -1.0
    y[index] += update
    z = torch.zeros_like(x)
    z[:, :2] = y[:, -2:] * 3
    z.index_put_((index,), update, accumulate=True)
    spread = z.scatter(1, index[:, None], 7.0)
    return y, z - x, spread.sum(dim=0), torch.where(y == 0.5, z, y)


def inputs(rng):
    yield rng.normal(8, 11, requires_grad=True), rng.permutation(8)[:3], rng.normal(3, 11)
    yield rng.normal(5, 7, requires_grad=True), rng.permutation(5)[:2], rng.normal(2, 7)
