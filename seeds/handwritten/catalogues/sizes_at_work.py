"""Sizes in arithmetic, comparisons, slices and shapes, for several sizes."""

import math

import torch


def program(x, y):
    n, k = x.shape
    half, rest = -(-n // 2), n - n // 2
    blocks = (n + 3) // 4 * 4
    pieces = x[:half] * 2, x[half:] + rest, x[n // 3 :: 2], x[-(n // 2) :], x.narrow(0, 1, n - 2)
    shaped = (
        x.reshape(-1, 2, k // 2),
        x.view(n * k)[: n + k],
        x.t().reshape(k, n),
        x.new_zeros(n, k + 1),
        torch.arange(n) % 3,
    )
    padded = (
        torch.nn.functional.pad(x, (0, 0, 0, blocks - n)),
        x.expand(2, n, k).sum(0),
        torch.cat([x, x.new_ones(blocks - n + 1, k)]),
    )
    scaled = (
        x / n,
        x * (n % 4),
        x.sum() / (n * k),
        x * math.sqrt(n),
        x + (n > 6),
        x * max(n, k),
        x - min(n, 5),
        x * 2 ** (n % 3),
    )
    scaled += (x * 3,) if n < 10 else (x.mean(0), y * n)
    return pieces, shaped, padded, scaled, y + rest, x.numel(), n // k, n % 4, (n, half, float(n) / 2)


def inputs(rng):
    for n in (6, 9, 7, 12):
        yield rng.normal(n, 4), rng.normal(4)
