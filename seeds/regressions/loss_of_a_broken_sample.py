"""Smooth L1 loss of samples of which some are NaN (docs/findings/023)."""

import torch


def program(x, target):
    return torch.nn.functional.smooth_l1_loss(x, target, reduction="sum")


def inputs(rng):
    yield rng.choice([0.25, float("nan"), 3.0, -0.5], 3, 4).requires_grad_(), rng.normal(3, 4)
