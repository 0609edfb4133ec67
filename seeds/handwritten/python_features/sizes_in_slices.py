"""Sizes in slices, indices and ranges, and in shapes."""

import torch


def program(x):
    n = x.shape[0]
    sliced = (
        x[: n // 2], x[-n:], x[n - 1], list(range(n))[1 : n - 1], list(range(n, 0, -2)), tuple(range(-n, n, 2)),
        range(n)[-1], len(range(1, n, 2)), x[slice(1, n)], [*range(n)][::-1], "abcdefgh"[:n],
        next(reversed(range(n))), range(n) == range(3), range(n).index(1), range(n).count(1), 2 in range(n),
        range(0, n)[1:], list(range(n)[::-1]),
    )
    ranges = (
        slice(0, n).indices(5), slice(n).stop, x[n - 2 : n], x[..., :n], x[[n - 1, 0]], x[n // 2 :], x[:: n - 2],
        x[-n], x[:-n], x[n:], x[None], x[x > n / 2], list(x), x.tolist(), [float(v) for v in x], x[-1].item(),
        len(x), list(x.size()),
    )
    shapes = (
        x.numel() // 2, x.stride(), x.shape[-1:], x.shape + (1,), torch.Size([n, 1]), x.shape == (3,),
        x.shape.numel(), x.dim(), tuple(x.shape), list(enumerate(x)), [a for a, b in zip(x, range(2))], x.size(-1),
        x.shape.index(n), x.shape.count(n), sum(x.shape), max(x.shape),
    )
    return sliced, ranges, shapes, x + 1


def inputs(rng):
    yield rng.normal(3)
    yield rng.normal(4)
    yield rng.normal(8)
