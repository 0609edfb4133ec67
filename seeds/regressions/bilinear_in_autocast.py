"""Agreement of two descriptions, in mixed precision (docs/findings/089)."""

import torch
import torch.nn.functional as F


def program(x, y, weight, bias):
    with torch.autocast("cpu", torch.bfloat16):
        return F.bilinear(x, y, weight, bias)


def inputs(rng):
    yield rng.normal(3, 4), rng.normal(3, 5), rng.normal(2, 4, 5), rng.normal(2)
