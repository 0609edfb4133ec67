"""Logarithms of positive numbers, zero for the others (docs/findings/072)."""

import numpy as np
import torch


def program(x):
    values = x.numpy()
    return torch.from_numpy(np.log(values, out=np.zeros(6, np.float32), where=values > 0))


def inputs(rng):
    yield (rng.normal(6),)
