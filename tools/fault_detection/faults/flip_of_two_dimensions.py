"""A flip along two dimensions of equal size flips along the first alone.

Modelled on https://github.com/pytorch/pytorch/issues/178964: the order in which a tensor of equal sizes is read was
mistaken.
"""

import torch
from torch._inductor.lowering import lowerings

KIND = "lowering"
REACHED_BY = "rewrite"


def plant():
    overload = torch.ops.prims.rev.default
    original = lowerings[overload]

    def planted(x, dims):
        sizes = [x.get_size()[d] for d in dims]
        if len(sizes) == 2 and sizes[0] == sizes[1]:
            dims = dims[:1]
        return original(x, dims)

    lowerings[overload] = planted


def witness():
    return lambda x: torch.flip(x, (0, 1)), [(torch.arange(9.0).reshape(3, 3),)]


plant()
