"""Absolute errors of which some count more (docs/findings/120)."""

import torch.nn.functional as F


def program(predicted, wanted, weight):
    return F.l1_loss(predicted, wanted, reduction="sum", weight=weight)


def inputs(rng):
    yield rng.normal(5), rng.normal(5), rng.uniform(5, low=1, high=3)
