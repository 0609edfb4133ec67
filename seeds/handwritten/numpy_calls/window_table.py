"""A Hann window built by NumPy as a constant, applied to overlapping frames of a signal."""

import numpy as np
import torch

FRAME = 16
WINDOW = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(FRAME) / FRAME)


def program(signal):
    window = torch.as_tensor(WINDOW, dtype=signal.dtype, device=signal.device)
    frames = signal.unfold(-1, FRAME, FRAME // 2)
    weighted = frames * window
    energy = (weighted**2).sum(dim=-1)
    loud = torch.log1p(energy) / np.log(10.0)
    return weighted.transpose(-1, -2), loud - loud.mean(dim=-1, keepdim=True), window.sum() * 2


def inputs(rng):
    yield rng.normal(3, 64)
    yield rng.normal(2, 96)
