"""Loops over a size and branches on it, for sizes on either side of each."""

import torch


def program(x, y):
    n, k = x.shape
    total = y
    for i in range(0, n, 3):
        total = total + x[i] * (n - i)
    if n == 9 or n * k > 40:
        total = total + x.mean(0)
    while n > 4:
        n -= 3
        total = total * 0.5 + x[n]
    return total, n, [row.sum() for row in x.unbind()], torch.stack([x[0]] * n)


def inputs(rng):
    for n in (6, 9, 7, 12):
        yield rng.normal(n, 4), rng.normal(4)
