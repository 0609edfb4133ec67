"""Unpooling with places that lie below zero (docs/findings/113)."""

import torch
import torch.nn.functional as F

refuses = True


def program(values, places):
    return F.max_unpool1d(values, places, 2)


def inputs(rng):
    yield rng.normal(1, 1, 3), torch.tensor([[[0, 3, -2]]])
