"""A variance with a correction of 0 is computed with the default correction.

Modelled on https://github.com/pytorch/pytorch/issues/113167: the variance of a compiled function differed from eager's
because of its correction.
"""

import torch
from torch._inductor import lowering

KIND = "lowering"
REACHED_BY = "rewrite"


def plant():
    overload = torch.ops.aten.var.correction
    original = lowering.lowerings[overload]

    def var_(x, axis=None, *, correction=None, keepdim=False):
        return original(x, axis, correction=correction or None, keepdim=keepdim)

    lowering.lowerings[overload] = var_


def witness():
    def program(x):
        return x.var(dim=-1, unbiased=False)

    return program, [(torch.arange(12.0).reshape(3, 4),)]


plant()
