"""The z-transform of small correlations (docs/findings/122)."""

import torch


def program(correlation):
    return torch.atanh(correlation)


def inputs(rng):
    yield (rng.uniform(32, low=1e-6, high=1e-5),)
