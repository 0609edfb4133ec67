"""Zero times special values: a mask of zeros does not silence NaN and infinities."""

import torch


def program(x, y):
    silenced = x * 0
    held = y + silenced.amax(dim=1, keepdim=True)
    once = x * 1 - 0
    return silenced, held, once, torch.isnan(silenced).sum(dim=0)


def inputs(rng):
    yield rng.choice([1.0, -2.0, float("inf"), float("-inf"), float("nan"), 0.5], 5, 12), rng.normal(5, 12)
