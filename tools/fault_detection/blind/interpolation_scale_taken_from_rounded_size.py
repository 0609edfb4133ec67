"""Linear interpolation by a factor uses the quotient of the sizes, not the factor, where the new size was rounded.

Modelled on https://github.com/pytorch/pytorch/issues/100987: a factor was derived from sizes alone, which is not what
eager computes at a size that does not come out even; a given factor must be used as it is.
"""

import torch
import torch.nn.functional as F
from torch._decomp import decompositions

KIND = "decomposition"
REACHED_BY = "plain"


def plant():
    def _compute_scale(in_size, out_size, align_corners, scale=None):
        if align_corners:
            if out_size > 1:
                return (in_size - 1.0) / (out_size - 1.0)
            return 0
        return in_size / out_size

    decompositions._compute_scale = _compute_scale


def witness():
    def program(x):
        return F.interpolate(x, scale_factor=1.7, mode="bilinear", align_corners=False)

    torch.manual_seed(0)
    return program, [(torch.randn(1, 2, 5, 7),)]


plant()
