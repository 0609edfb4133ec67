"""Integers times a power of two in half precision (docs/findings/143)."""

import torch


def program(x, exponent):
    return torch.ldexp(x, exponent)


def inputs(rng):
    yield rng.integers(-9, 10, 5).to(torch.int8), torch.tensor(2.0, dtype=torch.bfloat16)
