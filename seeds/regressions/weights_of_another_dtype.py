"""A linear layer whose weights are of another dtype than its input (docs/findings/106)."""

import torch

refuses = True


def program(weights, features):
    return torch.mv(weights, features)


def inputs(rng):
    yield rng.normal(3, 4), rng.normal(4, dtype=torch.float64)
