"""Weighted mean of phasors (docs/findings/078)."""

import numpy as np
import torch


def program(x):
    weights = np.array([1.0, 2.0, 3.0])
    return torch.from_numpy(np.average(x.numpy(), axis=1, weights=weights))


def inputs(rng):
    yield (rng.normal(2, 3, dtype=torch.complex64),)
