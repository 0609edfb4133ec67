"""A band of ones, in the default dtype (docs/findings/150)."""

import numpy as np
import torch


def program(x):
    return (torch.from_numpy(np.tri(3) * x.numpy()), torch.from_numpy(np.tri(3, 4)))


def inputs(rng):
    yield (rng.normal(3, 3),)
