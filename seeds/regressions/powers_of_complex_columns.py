"""Two to the power of complex numbers in columns (docs/findings/144)."""

import torch


def program(x):
    return 2**x


def inputs(rng):
    yield (rng.normal(3, 2, dtype=torch.complex64).t(),)
