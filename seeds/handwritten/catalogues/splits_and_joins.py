"""Parts of one tensor, put together again in this order and in others, and next to themselves."""

import torch


def program(x):
    parts = x.split([1, 3, 2], 1), x.chunk(4, 2), torch.tensor_split(x, (2, 3), 2), x.unbind(1)[::-1], x.hsplit(2)
    a, b = x.split(3, 1)
    first, second = torch.split(x, [2, 4], 2)
    joined = (
        torch.cat([second, first], 2),
        torch.cat(x.chunk(2)[::-1]),
        torch.cat([b, a], 1),
        torch.cat([a, b], 1) + 1,
        torch.stack([a, b], 2),
        torch.hstack([b, b]),
        torch.cat((a, a), -1),
    )
    halves = x.split((2, 2)), [part.sin() for part in x.unbind()], torch.cat([part.cos() for part in x.chunk(3, 1)], 1)
    return [part * 2 for group in parts for part in group], joined, halves


def inputs(rng):
    yield rng.normal(4, 6, 6)
