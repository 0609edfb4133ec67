"""Running sums, differences and reversals of whole-valued floats, where any order of adding is exact."""

import torch


def program(x):
    running = torch.cumsum(x, dim=1)
    backwards = x.flip(1).cumsum(dim=1).flip(1)
    both = running + backwards - x
    steps = running[:, 1:] - running[:, :-1]
    padded = torch.cat([x[:, :1], steps], dim=1)
    window = running[:, 4:] - running[:, :-4]
    return both, padded == x, window.sum(dim=0), window.amax(), torch.diff(backwards, dim=1)


def inputs(rng):
    yield rng.integers(-8, 9, 9, 130, dtype=torch.float32)
    yield rng.integers(-8, 9, 4, 17, dtype=torch.float32)
