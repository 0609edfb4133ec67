"""The lowering of ``mean`` gives half of it."""

import torch
from torch._inductor.lowering import lowerings

MET_BY = r"\bmean\("


def plant():
    original = lowerings[torch.ops.aten.mean.dim]
    mul = lowerings[torch.ops.aten.mul.Tensor]
    lowerings[torch.ops.aten.mean.dim] = lambda *operands, **named: mul(original(*operands, **named), 0.5)


plant()
