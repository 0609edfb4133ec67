"""Samples of which the last two are overwritten, through reversed views (docs/findings/080)."""

import numpy as np
import torch


def program(x):
    samples = x.numpy() * 2
    np.flip(samples)[0] = 9.0
    samples[::-1][1] = 8.0
    return torch.from_numpy(samples)


def inputs(rng):
    yield (rng.normal(6),)
