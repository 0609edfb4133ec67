"""Rows split at places that were computed (docs/findings/114)."""

import numpy as np


def program(rows, lengths):
    first, middle, last = np.split(rows.numpy(), np.cumsum(lengths.numpy()))
    return first.sum(), middle.sum(axis=0), last


def inputs(rng):
    yield rng.integers(0, 9, 6, 4), rng.integers(1, 3, 2)
