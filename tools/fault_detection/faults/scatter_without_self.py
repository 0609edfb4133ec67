"""Reducing into a tensor without what it holds takes it in all the same, for the largest and the smallest.

Modelled on https://github.com/pytorch/pytorch/pull/175356: ``include_self=False`` was dropped on the way to the
kernel.
"""

import torch
from torch._inductor.lowering import lowerings

KIND = "lowering"
REACHED_BY = "plain"


def plant():
    overload = torch.ops.aten.scatter_reduce.two
    original = lowerings[overload]

    def planted(x, dim, index, src, reduction_type, **kwargs):
        if reduction_type in ("amax", "amin"):
            kwargs = {**kwargs, "include_self": True}
        return original(x, dim, index, src, reduction_type, **kwargs)

    lowerings[overload] = planted


def witness():
    def program(x, index, src):
        return x.scatter_reduce(0, index, src, "amax", include_self=False)

    return program, [(torch.full((4,), 9.0), torch.tensor([0, 1, 0, 1, 2]), torch.arange(5.0))]


plant()
