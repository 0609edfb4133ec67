"""Targets that were not scaled to be probabilities (docs/findings/110)."""

import torch.nn.functional as F

refuses = True


def program(scores, targets):
    return F.binary_cross_entropy(scores.sigmoid(), targets)


def inputs(rng):
    yield rng.normal(4, 5), rng.uniform(4, 5, low=1.0, high=255.0)
