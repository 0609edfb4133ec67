"""The average of a window at the border counts the padding despite ``count_include_pad=False``.

Modelled on https://github.com/pytorch/pytorch/issues/100987: averages of windows that reach over the border were
divided by the wrong count.
"""

import torch
from torch._inductor.lowering import lowerings

KIND = "lowering"
REACHED_BY = "rewrite"


def plant():
    overload = torch.ops.aten.avg_pool2d.default
    original = lowerings[overload]

    def planted(x, kernel_size, stride=(), padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
        return original(x, kernel_size, stride, padding, ceil_mode, True, divisor_override)

    lowerings[overload] = planted


def witness():
    def program(x):
        return torch.nn.functional.avg_pool2d(x, 3, 2, padding=1, count_include_pad=False)

    return program, [(torch.arange(1.0, 37.0).reshape(1, 1, 6, 6),)]


plant()
