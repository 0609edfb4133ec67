"""Bytes beside a number that is no byte (docs/findings/146)."""

import numpy as np
import torch


def program(x):
    return (torch.from_numpy(np.less(x.numpy(), -1)),)


def inputs(rng):
    yield (rng.integers(1, 9, 3, 4, dtype=torch.uint8),)
