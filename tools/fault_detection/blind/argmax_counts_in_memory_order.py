"""``argmax`` and ``argmin`` over several dimensions count the position in the order of memory, not of the dimensions.

Modelled on https://github.com/pytorch/pytorch/issues/183082: the loops of the kernel are reordered by the strides, so
that the counter of the loop is not the position in a transposed tensor; the lowering must pass the position along.
"""

import torch
from torch._inductor import lowering

KIND = "lowering"
REACHED_BY = "plain"


def plant():
    original = lowering._make_reduction_inner

    def _make_reduction_inner(x, *, reduction_type=None, **options):
        return original(x, **options)

    lowering._make_reduction_inner = _make_reduction_inner


def witness():
    def program(x):
        return torch.argmax(x.t() * 2)

    return program, [(torch.tensor([[0.0, 9.0, 1.0], [2.0, 3.0, 4.0]]),)]


plant()
