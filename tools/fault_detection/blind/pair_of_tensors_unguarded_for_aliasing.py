"""Code compiled for two different tensors is run again where both arguments are the same tensor.

Modelled on https://github.com/pytorch/pytorch/pull/104921: Dynamo had guards for tensors that are the same, but none
for those that are not.
"""

import torch
from torch._dynamo import guards

KIND = "guards"
REACHED_BY = "rewrite"


def plant():
    original = guards.install_no_tensor_aliasing_guard

    def install_no_tensor_aliasing_guard(guard_managers, tensor_names, *rest):
        if len(tensor_names) > 2:
            original(guard_managers, tensor_names, *rest)

    guards.install_no_tensor_aliasing_guard = install_no_tensor_aliasing_guard


def witness():
    def program(state, x):
        state.add_(x)
        return state * x

    both = torch.full((3,), 3.0)
    return program, [(torch.full((3,), 2.0), torch.full((3,), 5.0)), (both, both)]


plant()
