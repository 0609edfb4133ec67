"""Fractional and whole parts of amounts, some of them negative (docs/findings/070)."""

import numpy as np
import torch


def program(x):
    fraction, whole = np.modf(x.numpy())
    return torch.from_numpy(fraction), torch.from_numpy(whole)


def inputs(rng):
    yield (rng.uniform(6, low=-5.0, high=5.0),)
