"""Draws that are written to a tensor of floats (docs/findings/111)."""

import torch

refuses = True


def program(weights, drawn):
    return torch.multinomial(weights, 2, out=drawn)


def inputs(rng):
    yield rng.uniform(5) + 0.1, torch.zeros(2, dtype=torch.float64)
