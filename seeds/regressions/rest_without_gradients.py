"""The rest of a sequence taken without gradients (docs/findings/117)."""

import torch


def program(x):
    with torch.no_grad():
        rest = x[1:]
    return x * 2, rest


def inputs(rng):
    yield (rng.normal(4).requires_grad_(),)
