"""Writes through one view that are read through another view of the same buffer."""

import torch


def program(x):
    buffer = x * 1.5
    top, bottom = buffer[:4], buffer[4:]
    turned = buffer.t()
    top += bottom
    turned[0] = 9.0
    flat = buffer.view(-1)
    flat[::5] *= -1
    before = bottom.sum()
    bottom.copy_(top.flip(0))
    return buffer, before, turned[:, :4] @ top / 4, flat[:6] + bottom[0, :6]


def inputs(rng):
    yield rng.integers(-6, 7, 8, 9, dtype=torch.float32)
    yield rng.integers(-6, 7, 8, 12, dtype=torch.float32)
