"""Writing a slice given by a negative index writes the one before it.

Modelled on https://github.com/pytorch/pytorch/issues/122291: the compiled form of writing into a part of a tensor
wrote somewhere else.
"""

import torch
from torch._inductor.lowering import lowerings

KIND = "lowering"
REACHED_BY = "plain"


def plant():
    overload = torch.ops.aten.select_scatter.default
    original = lowerings[overload]

    def planted(x, src, dim, index):
        if isinstance(index, int) and -x.get_size()[dim] < index < 0:
            index -= 1
        return original(x, src, dim, index)

    lowerings[overload] = planted


def witness():
    def program(x):
        y = x.clone()
        y[-1] = 7.0
        return y

    return program, [(torch.arange(12.0).reshape(4, 3),)]


plant()
