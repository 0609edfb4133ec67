"""Peaks of one column of voxels (docs/findings/086)."""

import torch.nn.functional as F


def program(x):
    return F.max_pool3d(x, 5, stride=1, padding=2)


def inputs(rng):
    yield rng.normal(1, 4, 6, 4, 1, requires_grad=True)
