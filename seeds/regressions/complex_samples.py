"""Phases of samples that are taken column by column (docs/findings/094)."""

import torch


def program(z, index):
    return torch.angle(z.take(index.t()) + 4)


def inputs(rng):
    yield rng.normal(4, 8, dtype=torch.complex64), rng.integers(0, 32, 8, 4)
