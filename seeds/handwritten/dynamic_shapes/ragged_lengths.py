"""Masks, positions and segment sums from lengths, with arange of a changing size."""

import torch


def program(values, lengths):
    steps = torch.arange(values.shape[1], device=values.device)
    mask = steps < lengths[:, None]
    kept = values * mask
    ends = torch.cumsum(lengths, dim=0)
    starts = ends - lengths
    last = values.gather(1, (lengths - 1).clamp(min=0)[:, None]).squeeze(1)
    reverse = torch.where(mask, lengths[:, None] - 1 - steps, steps)
    turned = torch.gather(values, 1, reverse)
    return kept.sum(dim=1), turned, last * 2, torch.stack([starts, ends], dim=1), mask.float().mean()


def inputs(rng):
    for n, width in ((4, 6), (5, 9)):
        yield rng.integers(-9, 10, n, width, dtype=torch.float32), rng.integers(1, width + 1, n)
