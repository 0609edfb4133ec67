"""The softmax of scores with a mask that was just written into (docs/findings/157)."""

import torch


def program(x):
    mask, places = torch.zeros(8, 8), torch.arange(8)
    mask[places[:, None], places] = 1
    return torch.softmax(x + mask, dim=-1)


def inputs(rng):
    yield (rng.normal(8, 8),)
