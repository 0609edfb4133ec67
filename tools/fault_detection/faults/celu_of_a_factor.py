"""``celu`` does not divide by its factor before the exponential.

Modelled on https://github.com/pytorch/pytorch/issues/189799: the compiled form of ``elu``, which ``celu`` shares,
differs from eager's.
"""

import torch
from torch._inductor.decomposition import decompositions

KIND = "decomposition"
REACHED_BY = "plain"


def plant():
    def celu(a, alpha=1.0, inplace=False):
        return torch.where(a > 0, a, alpha * torch.expm1(a))

    decompositions[torch.ops.aten.celu.default] = celu


def witness():
    return lambda x: torch.nn.functional.celu(x, alpha=0.5), [(torch.linspace(-2.0, 2.0, 20),)]


plant()
