"""Gates of straight lines in double precision (docs/findings/081)."""

import torch


def program(x, gate):
    return x * torch.nn.functional.hardsigmoid(gate)


def inputs(rng):
    yield rng.normal(4, 9, dtype=torch.float64, requires_grad=True), rng.normal(4, 9, dtype=torch.float64, requires_grad=True)
