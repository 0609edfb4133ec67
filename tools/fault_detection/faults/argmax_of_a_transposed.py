"""The place of the largest element of a transposed tensor is counted in the order of the tensor before.

Modelled on https://github.com/pytorch/pytorch/issues/183082: ``argmax`` after a transposition gave the wrong place on
the CPU.
"""

import torch
from torch._inductor import ir
from torch._inductor.lowering import lowerings

KIND = "lowering"
REACHED_BY = "rewrite"


def plant():
    overload = torch.ops.aten.argmax.default
    original = lowerings[overload]

    def planted(x, axis=None, keepdim=False):
        if axis is None and isinstance(x.data, ir.PermuteView | ir.ReinterpretView):
            before = ir.TensorBox(x.data.data)
            if list(before.get_size()) == list(reversed(x.get_size())):
                return original(before, axis, keepdim)
        return original(x, axis, keepdim)

    lowerings[overload] = planted


def witness():
    return lambda x: x.t().argmax(), [(torch.tensor([[0.0, 5.0, 1.0], [2.0, 3.0, 4.0]]),)]


plant()
