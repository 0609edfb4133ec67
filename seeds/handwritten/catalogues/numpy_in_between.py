"""NumPy functions on the arrays of tensors: arithmetic, masks, joins, reductions."""

import numpy as np
import torch


def program(x, n):
    a, i = x.contiguous().numpy(), n.contiguous().numpy()
    real = np.sin(a) + np.exp(-np.abs(a)), np.maximum(a, 0.5), np.clip(a, -1, 1), np.square(a), a @ a.T, np.hypot(a, 2)
    chosen = np.where(a > 0, a, -a), a[i[0] % 3], np.take(a, [0, 2], axis=0), a[a[:, 0] > 0].shape[1], np.sign(a)
    shaped = (
        np.concatenate([a, a + 1]),
        np.stack([a, a], 1),
        a.reshape(2, -1),
        np.flip(a, 0).copy(),
        np.roll(a, 2),
        np.tile(a, 2),
    )
    folded = (
        a.mean(axis=1),
        np.max(a, 0),
        a.argmax(1),
        np.cumsum(a, 1),
        np.std(a),
        np.any(a > 1, 0),
        np.sort(a, 1),
        np.linalg.norm(a),
    )
    made = np.arange(4) * 2, np.zeros((2, 3)) + a[:2, :3], np.full(3, 7), np.eye(3) @ a, np.linspace(0, 1, 4)
    groups = real, chosen, shaped, folded, made
    return [[torch.as_tensor(value) for value in group] for group in groups]


def inputs(rng):
    yield rng.normal(3, 4), rng.integers(-9, 9, 2, 5)
