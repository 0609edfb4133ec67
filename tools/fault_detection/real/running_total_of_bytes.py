"""NumPy's running total of small signed numbers."""

# /// defect
# cause = "torch._numpy accumulates a cumsum of small integers in their own dtype"
# url = "https://github.com/pytorch/pytorch/issues/198056"
# torch = ">=2.13"
# kinds = ["wrong-metadata", "wrong-result"]
# regex = 'cumsum'
# ///

import numpy as np


def program(steps, start):
    position = np.cumsum(steps, axis=1)
    return position + start, position[:, -1]


def inputs(rng):
    yield rng.integers(40, 100, 3, 6).numpy().astype(np.int8), 7
