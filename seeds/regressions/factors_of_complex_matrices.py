"""The factors of complex matrices, with gradients (docs/findings/130)."""

import torch


def program(x):
    return torch.linalg.lu_factor(x)[0]


def inputs(rng):
    yield (rng.normal(4, 4, dtype=torch.complex64).requires_grad_(),)
