"""Integer NumPy arrays: ranges, stacking, remainders, cumulative sums and fancy indexing."""

import numpy as np
import torch


def program(x, order):
    a, p = x.numpy(force=True), order.numpy(force=True)
    moved = a[p] + np.arange(a.shape[1])
    both = np.stack([moved, a % 7], axis=0)
    running = np.cumsum(both, axis=1)
    low, high = running.min(axis=2), running.max(axis=2)
    back = torch.from_numpy(np.concatenate([low, high], axis=1))
    return back // 2, torch.from_numpy(both.reshape(2, -1)).sum(dim=1), np.clip(moved, 0, 20)


def inputs(rng):
    yield rng.integers(0, 50, 6, 30), rng.permutation(6)
