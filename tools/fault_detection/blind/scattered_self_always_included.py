"""``scatter_reduce`` with ``amax``, ``amin``, ``prod`` or ``mean`` reduces the old values too, ``include_self`` or not.

Modelled on https://github.com/pytorch/pytorch/pull/174748: the code for the fallback of scatter operations passed
``reduce`` on, but not ``include_self``, so that it was always true.
"""

import torch
from torch._inductor import lowering

KIND = "lowering"
REACHED_BY = "plain"


def plant():
    original = lowering.scatter_fallback

    def scatter_fallback(op_overload, self, dim, index, src, *, reduce=None, include_self=True):
        return original(op_overload, self, dim, index, src, reduce=reduce)

    lowering.scatter_fallback = scatter_fallback


def witness():
    def program(x, index, src):
        return x.scatter_reduce(0, index, src, "amax", include_self=False)

    return program, [(torch.full((4,), 10.0), torch.tensor([0, 2, 2]), torch.tensor([1.0, 2.0, 3.0]))]


plant()
