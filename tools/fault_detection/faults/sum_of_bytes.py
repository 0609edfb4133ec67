"""Bytes are summed as bytes, and widened afterwards.

Modelled on https://github.com/pytorch/pytorch/issues/105264: arithmetic of bytes was done in another type than the
one that eager does it in.
"""

import torch
from torch._inductor.lowering import lowerings

KIND = "dtype-promotion"
REACHED_BY = "plain"


def plant():
    overload = torch.ops.aten.sum.dim_IntList
    original = lowerings[overload]

    def planted(x, axis=None, keepdims=False, *, dtype=None):
        if dtype is None and x.get_dtype() in (torch.int8, torch.uint8):
            narrow = original(x, axis, keepdims, dtype=x.get_dtype())
            return lowerings[torch.ops.prims.convert_element_type.default](narrow, torch.int64)
        return original(x, axis, keepdims, dtype=dtype)

    lowerings[overload] = planted


def witness():
    return lambda x: x.sum(1), [(torch.full((3, 40), 30, dtype=torch.uint8),)]


plant()
