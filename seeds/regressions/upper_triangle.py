"""Elements above the diagonal of a matrix (docs/findings/071)."""

import numpy as np
import torch


def program(x):
    return torch.from_numpy(x.numpy()[np.triu_indices(3, 1)]) * 2


def inputs(rng):
    yield (rng.normal(3, 3),)
