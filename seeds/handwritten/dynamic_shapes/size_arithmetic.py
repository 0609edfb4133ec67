"""Sizes computed in Python steer views, pads and slices; three lengths run through one graph."""

import torch
import torch.nn.functional as F


def program(x):
    n = x.shape[0]
    block = 4
    missing = -n % block
    padded = F.pad(x, (0, 0, 0, missing))
    blocks = padded.view(-1, block, x.shape[1])
    sums = blocks.sum(dim=1) + padded.view(-1, block * x.shape[1]).amax(dim=1, keepdim=True)
    spread = sums.repeat_interleave(block, dim=0)[:n]
    half = x[: n // 2] - x[n - n // 2 :]
    count, columns = x.shape[0] * x.shape[1], x.shape[-1]
    line = x.reshape(count) * x.ndim
    level = x.sum() / count
    ramp = x[:n] + x[..., :columns] + (x + torch.arange(columns, device=x.device))
    return line[::2] - level, ramp, spread / block + x, half * (n % 3 + 1), blocks.amax(dim=(0, 1)), missing


def inputs(rng):
    for n in (6, 9, 16):
        yield rng.integers(-20, 21, n, 5, dtype=torch.float32)
