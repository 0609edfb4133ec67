"""Channels are moved into space, weighed by their mean, and moved back, at two sizes."""

# /// defect
# cause = "With symbolic sizes the C++ code generation reduces an empty list of ranges"
# url = "https://github.com/pytorch/pytorch/issues/188217"
# torch = ">=2.13"
# kinds = ["compiler-crash"]
# regex = 'reduce\(\) of empty iterable'
# ///

import torch.nn.functional as F


def program(x):
    n, c, h, w = x.shape
    space = x.view(n, c // 4, 2, 2, h, w).permute(0, 1, 4, 2, 5, 3).reshape(n, c // 4, h * 2, w * 2)
    weighed = space + space.mean(dim=1, keepdim=True)
    return F.pixel_unshuffle(weighed, 2) * x


def inputs(rng):
    yield rng.normal(2, 8, 4, 5)
    yield rng.normal(1, 4, 3, 6)
