"""Soft margin loss of samples of which some are classified with a large margin (docs/findings/011)."""

import torch


def program(scores, labels):
    signs = labels * 2.0 - 1.0
    return torch.nn.functional.soft_margin_loss(scores, signs)


def inputs(rng):
    labels = rng.booleans(5, 4).to(torch.float32)
    scores = (labels * 2.0 - 1.0) * rng.uniform(5, 4, low=1.0, high=15.0)
    yield scores.requires_grad_(), labels
