"""Whole turns and what is left (docs/findings/152)."""

import numpy as np
import torch


def program(x):
    turns, rest = np.divmod(x.numpy(), 2)
    return torch.from_numpy(turns), torch.from_numpy(rest)


def inputs(rng):
    yield (rng.normal(3, 4),)
