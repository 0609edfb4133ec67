"""Writing every n-th row from a start on begins at the first row.

Modelled on https://github.com/pytorch/pytorch/issues/122291: the compiled form of writing into a part of a tensor
wrote somewhere else.
"""

import torch
from torch._inductor.lowering import lowerings

KIND = "lowering"
REACHED_BY = "rewrite"


def plant():
    overload = torch.ops.aten.slice_scatter.default
    original = lowerings[overload]

    def planted(x, src, dim=0, start=None, end=None, step=1):
        if step > 1 and start is not None and end is not None and 0 < start < step:
            start = 0
        return original(x, src, dim, start, end, step)

    lowerings[overload] = planted


def witness():
    def program(x):
        y = x.clone()
        y[1::2] = -1.0
        return y

    return program, [(torch.arange(12.0).reshape(6, 2),)]


plant()
