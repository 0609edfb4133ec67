"""Average pooling with ``ceil_mode`` divides the windows over the edge of the input by the size of a whole window.

Modelled on https://github.com/pytorch/pytorch/issues/100987: the lowering took the mean of every window by dividing by
the size of the kernel, although fewer elements are in the border windows that ``ceil_mode`` adds.
"""

import math

import torch
from torch._inductor import lowering

KIND = "lowering"
REACHED_BY = "plain"


def plant():
    original = lowering._avg_poolnd

    def avg_poolnd(x, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override, dim):
        if ceil_mode and count_include_pad and not divisor_override:
            divisor_override = math.prod(lowering.pad_listlike(kernel_size, dim))
        return original(x, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override, dim)

    lowering._avg_poolnd = avg_poolnd


def witness():
    def program(x):
        return torch.nn.functional.avg_pool2d(x, 2, ceil_mode=True)

    return program, [(torch.arange(1.0, 26.0).reshape(1, 1, 5, 5),)]


plant()
