"""``roll`` without dimensions moves whole rows rather than elements of the flattened tensor.

Modelled on https://github.com/pytorch/pytorch/pull/119857: the lowering of ``roll`` was replaced by a decomposition,
which must take missing dimensions for a roll of the flattened tensor, not of its first dimension.
"""

import torch
from torch._inductor.decomposition import decompositions

KIND = "decomposition"
REACHED_BY = "plain"


def plant():
    operator = torch.ops.aten.roll.default
    original = decompositions[operator]

    def roll(a, shifts, dims=()):
        return original(a, shifts, dims or ([0] if a.dim() else ()))

    decompositions[operator] = roll


def witness():
    def program(x):
        return torch.roll(x, 1) + x

    return program, [(torch.arange(6.0).reshape(2, 3),)]


plant()
