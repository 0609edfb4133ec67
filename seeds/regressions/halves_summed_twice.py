"""Sums of halves, and their sines (docs/findings/096)."""

import torch


def program(x):
    return x.sum(1), x.sum(1).sin()


def inputs(rng):
    yield rng.normal(4, 17, 3, dtype=torch.float16)
