"""Average pooling with ``ceil_mode`` divides windows that overhang the border by the full size of the window.

Modelled on https://github.com/pytorch/pytorch/issues/100987: the lowering divided every window by the product of the
kernel sizes, although the last windows of ``ceil_mode`` cover fewer elements.
"""

import math

import torch
from torch._inductor import lowering

KIND = "lowering"
REACHED_BY = "plain"


def plant():
    original = lowering._avg_poolnd

    def _avg_poolnd(x, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override, dim):
        if ceil_mode and count_include_pad and not divisor_override:
            divisor_override = math.prod(lowering.pad_listlike(kernel_size, dim))
        return original(x, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override, dim)

    lowering._avg_poolnd = _avg_poolnd


def witness():
    def program(x):
        return torch.nn.functional.avg_pool2d(x, 3, stride=2, ceil_mode=True) + 1

    return program, [(torch.arange(36.0).reshape(1, 1, 6, 6),)]


plant()
