"""chunk, split, unbind, roll, flip, stack and cat of one tensor of 1,152 elements."""

import torch


def program(x):
    a, b, c = torch.chunk(x, 3, dim=-1)
    gated = torch.sigmoid(a) * torch.tanh(b) + c
    first, second = gated.split([5, gated.shape[1] - 5], dim=1)
    joined = torch.cat((second, first), dim=1)
    rolled = torch.roll(joined, shifts=2, dims=1)
    rows = [row * (i + 1) for i, row in enumerate(rolled.unbind(0))]
    stacked = torch.stack(rows[::-1], dim=1)
    return stacked, torch.flip(joined, dims=(0, 1)) - joined, torch.hstack((first, second)).sum(0)


def inputs(rng):
    yield rng.normal(8, 144)
