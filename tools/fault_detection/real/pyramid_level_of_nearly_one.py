"""A level of an image pyramid whose height stays although its scale is not one."""

# /// defect
# cause = "The lowering of nearest upsampling resamples a dimension whose size stays"
# url = "https://github.com/pytorch/pytorch/issues/198201"
# torch = ">=2.13"
# kinds = ["wrong-result"]
# regex = 'interpolate'
# ///

import torch.nn.functional as F


def program(image, weight):
    level = F.interpolate(image, scale_factor=(1.3, 1.5), mode="nearest")
    return level, F.conv2d(level, weight)


def inputs(rng):
    yield rng.normal(1, 2, 3, 4), rng.normal(1, 2, 2, 2)
