"""``addmm`` forgets the factor of its product where what is added to it has a factor too.

Modelled on https://github.com/pytorch/pytorch/issues/167313: both factors of ``addmm`` were lost where it was written
as a sum.
"""

import torch
from torch._inductor.lowering import lowerings

KIND = "extern-kernel"
REACHED_BY = "rewrite"


def plant():
    overload = torch.ops.aten.addmm.default
    original = lowerings[overload]

    def planted(inp, mat1, mat2, *, alpha=1, beta=1, **kwargs):
        if beta != 1:
            alpha = 1
        return original(inp, mat1, mat2, alpha=alpha, beta=beta, **kwargs)

    lowerings[overload] = planted


def witness():
    def program(a, x, y):
        return torch.addmm(a, x, y, alpha=0.5, beta=2.0)

    return program, [(torch.ones(4, 6), torch.arange(20.0).reshape(4, 5), torch.full((5, 6), 0.25))]


plant()
