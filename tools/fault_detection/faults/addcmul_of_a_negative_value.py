"""``addcmul`` with a negative factor loses the factor's sign.

Modelled on https://github.com/pytorch/pytorch/pull/183904: the compiled form of ``addcmul`` with a factor did not
give what eager gives.
"""

import torch
from torch._inductor.lowering import lowerings

KIND = "lowering"
REACHED_BY = "rewrite"


def plant():
    overload = torch.ops.aten.addcmul.default
    original = lowerings[overload]

    def addcmul(self, tensor1, tensor2, *, value=1):
        if isinstance(value, int | float) and value < 0:
            value = -value
        return original(self, tensor1, tensor2, value=value)

    lowerings[overload] = addcmul


def witness():
    def program(x, y, z):
        return torch.addcmul(x, y, z, value=-0.5)

    return program, [(torch.ones(20), torch.arange(20.0), torch.full((20,), 3.0))]


plant()
