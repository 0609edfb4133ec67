"""Random numbers of the shape of a tensor are drawn again for the gradient instead of kept from the forward pass.

Modelled on https://github.com/pytorch/pytorch/issues/190758: the partitioner let random numbers be recomputed in the
backward pass, which then used another dropout mask than the forward pass.
"""

import dataclasses

import torch
from torch._functorch import partitioners

KIND = "randomness"
REACHED_BY = "rewrite"


def plant():
    original = partitioners.get_default_op_list

    def get_default_op_list():
        types = original()
        return dataclasses.replace(types, recomputable_ops=types.recomputable_ops | types.random_ops)

    partitioners.get_default_op_list = get_default_op_list


def witness():
    def program(x):
        return torch.sin(x) * torch.rand_like(x)

    return program, [(torch.arange(1.0, 65.0, requires_grad=True),)]


plant()
