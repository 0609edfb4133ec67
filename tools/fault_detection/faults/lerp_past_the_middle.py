"""Interpolation past the middle counts from the wrong end.

Modelled on https://github.com/pytorch/pytorch/issues/183575: code for ``lerp`` in place left something else in its
argument.
"""

import torch
from torch._inductor.decomposition import decompositions

KIND = "decomposition"
REACHED_BY = "rewrite"


def plant():
    overload = torch.ops.aten.lerp.Scalar
    original = decompositions[overload]

    def lerp(start, end, weight):
        return original(start, end, 1.0 - weight) if weight > 0.5 else original(start, end, weight)

    decompositions[overload] = lerp


def witness():
    return lambda x, y: torch.lerp(x, y, 0.75), [(torch.zeros(20), torch.arange(20.0))]


plant()
