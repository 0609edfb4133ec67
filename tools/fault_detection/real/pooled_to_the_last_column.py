"""Feature maps are pooled with a window that hangs over the edge, and weighed."""

# /// defect
# cause = "The lowering of the backward of avg_pool2d divides an overhanging window by the full kernel size"
# url = "https://github.com/pytorch/pytorch/issues/198119"
# torch = ">=2.13"
# kinds = ["wrong-gradient"]
# regex = 'avg_pool'
# direction = "gradient"
# ///

import torch
import torch.nn.functional as F


def program(maps, weights):
    pooled = F.avg_pool2d(torch.relu(maps), kernel_size=3, stride=2, ceil_mode=True)
    return (pooled * weights).sum(dim=(2, 3))


def inputs(rng):
    yield rng.normal(2, 3, 6, 8, requires_grad=True), rng.normal(3, 4)
