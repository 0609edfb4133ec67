"""A depthwise separable block: grouped convolution, pointwise convolution, channel gate."""

import torch
import torch.nn.functional as F


def program(x, depth, point, gate):
    y = F.conv2d(x, depth, stride=2, padding=1, groups=x.size(1))
    y = y * torch.sigmoid(y)
    y = torch.conv2d(y, point)
    squeeze = F.adaptive_avg_pool2d(y, 1).flatten(1)
    excite = torch.sigmoid(squeeze @ gate).unsqueeze(-1).unsqueeze(-1)
    return y * excite + y.mean(dim=1, keepdim=True), squeeze


def inputs(rng):
    yield (
        rng.normal(2, 6, 12, 12),
        rng.normal(6, 1, 3, 3, requires_grad=True),
        rng.normal(8, 6, 1, 1),
        rng.normal(8, 8),
    )
