"""Columns of an array rolled that is laid out by columns: NumPy keeps that layout."""

import numpy as np
import torch


def program(x):
    return torch.from_numpy(np.roll(x.numpy(), 1, axis=1)) * 2


def inputs(rng):
    yield (rng.normal(3, 16).t(),)
