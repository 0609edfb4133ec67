"""Which of a few numbers are negative (docs/findings/087)."""

import torch


def program(x):
    return torch.signbit(x)


def inputs(rng):
    yield rng.normal(7, dtype=torch.bfloat16)
