"""Python branches on the size of the batch, so that a second call must not reuse the first graph."""

import torch


def program(x, k=3):
    if x.shape[0] == 1:
        centre = x
    elif x.size(0) > 4:
        centre = x[:k].mean(dim=0, keepdim=True) + x[-k:].amax(dim=0, keepdim=True)
    else:
        centre = x.sum(dim=0, keepdim=True) / len(x)
    gap = torch.abs(x - centre)
    kernel = torch.exp(-gap / x.shape[1])
    return kernel, gap.sum(dim=-1) * (x.numel() % 2 + 1), centre.expand_as(x) @ kernel.transpose(0, 1)


def inputs(rng):
    yield rng.normal(6, 7)
    yield rng.normal(3, 7)
    yield rng.normal(1, 8)
    yield rng.normal(9, 5), 2
