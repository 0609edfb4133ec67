"""Integer counts squared by NumPy, and their sums."""

# /// defect
# cause = "torch._numpy squares integers as floats"
# url = "https://github.com/pytorch/pytorch/issues/198056"
# torch = ">=2.13"
# kinds = ["wrong-metadata", "wrong-result"]
# regex = 'square'
# ///

import numpy as np


def program(counts):
    squares = np.square(counts)
    return squares, squares.sum(axis=0), counts + 1


def inputs(rng):
    yield (rng.integers(0, 9, 3, 4).numpy(),)
