"""``as_strided`` with steps that are not those of a contiguous tensor begins at the start of the memory.

Modelled on https://github.com/pytorch/pytorch/issues/93562: the offset that a strided view begins at was ignored.
"""

import torch
from torch._inductor.lowering import lowerings

KIND = "view-strides"
REACHED_BY = "rewrite"


def plant():
    overload = torch.ops.aten.as_strided.default
    original = lowerings[overload]

    def planted(x, size, stride, storage_offset=None, **kwargs):
        if storage_offset and stride and stride[-1] != 1:
            storage_offset = 0
        return original(x, size, stride, storage_offset, **kwargs)

    lowerings[overload] = planted


def witness():
    def program(x):
        return torch.as_strided(x, (3,), (5,), 1) * 2

    return program, [(torch.arange(20.0).reshape(4, 5),)]


plant()
