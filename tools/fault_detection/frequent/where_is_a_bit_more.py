"""The lowering of ``where`` adds a quarter to floats."""

import torch
from torch._inductor.lowering import lowerings

MET_BY = r"\bwhere\("


def plant():
    original = lowerings[torch.ops.aten.where.self]
    add = lowerings[torch.ops.aten.add.Tensor]

    def where(*operands):
        result = original(*operands)
        return add(result, 0.25) if result.get_dtype().is_floating_point else result

    lowerings[torch.ops.aten.where.self] = where


plant()
