"""A short signal resized by a factor that keeps its length (docs/findings/119)."""

import torch.nn.functional as F


def program(x):
    return F.interpolate(x, scale_factor=1.3, mode="linear", align_corners=False)


def inputs(rng):
    yield (rng.normal(1, 2, 3),)
