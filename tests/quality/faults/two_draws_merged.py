"""Two draws of uniform numbers of one size are taken for one common sub-expression where a gradient is recorded.

Modelled on https://github.com/pytorch/pytorch/issues/158643: a model with several random layers gave other outputs
than in eager.
"""

import torch
from torch._functorch import compile_utils

KIND = "randomness"
REACHED_BY = "rewrite"


def plant():
    for operator in (torch.ops.aten.rand_like, torch.ops.aten.rand):
        if operator in compile_utils.rand_ops:
            compile_utils.rand_ops.remove(operator)


def witness():
    def program(x):
        return torch.rand_like(x) * x + torch.rand_like(x)

    return program, [(torch.arange(1.0, 65.0, requires_grad=True),)]


plant()
