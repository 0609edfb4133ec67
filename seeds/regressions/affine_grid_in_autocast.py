"""A grid of turned images, in mixed precision (docs/findings/090)."""

import torch
import torch.nn.functional as F


def program(theta):
    with torch.autocast("cpu", torch.bfloat16):
        return F.affine_grid(theta, (2, 3, 4, 4), align_corners=False)


def inputs(rng):
    yield rng.normal(2, 2, 3)
