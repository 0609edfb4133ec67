"""The spectrum of a signal in single precision (docs/findings/151)."""

import numpy as np
import torch


def program(x):
    return (torch.from_numpy(np.fft.rfft(x.numpy())),)


def inputs(rng):
    yield (rng.normal(3, 8),)
