"""The power of minus one is taken for the power of one, which does nothing.

Modelled on https://github.com/pytorch/pytorch/pull/90146: powers whose exponent is not positive were compiled into
something else.
"""

import torch
from torch._inductor.fx_passes.post_grad import noop_registry

KIND = "post-grad-pass"
REACHED_BY = "rewrite"


def plant():
    overload = torch.ops.aten.pow.Tensor_Scalar
    _, position = noop_registry[overload]
    noop_registry[overload] = (lambda a, b: isinstance(b, int) and abs(b) == 1, position)


def witness():
    return lambda x: x**-1 + 1, [(torch.linspace(0.5, 4.0, 20),)]


plant()
