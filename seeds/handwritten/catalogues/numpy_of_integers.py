"""NumPy on integers too large for a float32, and on small ones: arithmetic, bits, order, masks, sums."""

import numpy as np
import torch


def program(n, k):
    i, j = n.contiguous().numpy(), k.contiguous().numpy()
    whole = np.add(i, np.roll(i, 1)), i * 3 - 1, np.subtract(5, i), np.multiply(j, i), np.negative(i), np.absolute(i)
    divided = np.floor_divide(i, 4), np.mod(i, 5), i % -7, i // j, np.power(j % 7, 2), np.left_shift(j, 3), i >> 2
    bits = np.bitwise_and(i, 255), i | 1, np.bitwise_xor(i, j), ~j, np.gcd(i, 12), np.sign(i)
    chosen = np.where(i > j, i, j), np.maximum(i, j), np.clip(i, -9, 9), np.take(j, [0, 2], axis=1), i[:, ::2], j[-1]
    folded = (
        i.sum(),
        i.prod(0),
        i.max(1),
        np.cumsum(j, 1),
        i.argmin(1),
        np.sort(j, 1),
        np.count_nonzero(j),
        np.any(i > 9, 0),
    )
    made = np.arange(5) - j, np.concatenate([i, j]), np.stack([i, j], 1), np.tile(j, 2), np.zeros(5, dtype=np.int64) + i
    return [[torch.as_tensor(value) for value in group] for group in (whole, divided, bits, chosen, folded, made)]


def inputs(rng):
    yield rng.integers(-100_000_019, 100_000_019, 2, 5), rng.integers(1, 9, 2, 5)
