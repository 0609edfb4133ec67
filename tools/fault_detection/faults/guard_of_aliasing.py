"""No guard on two arguments being one tensor where the function has only two: writes to one are not seen in the other.

Modelled on https://github.com/pytorch/pytorch/issues/139789: code compiled for arguments that do not share memory was
used for arguments that do, although one of them is written to.
"""

import torch
from torch._dynamo import guards

KIND = "dynamo-guard"
REACHED_BY = "plain"


def plant():
    original = guards.install_no_tensor_aliasing_guard

    def install_no_tensor_aliasing_guard(managers, names, *args):
        if len(names) != 2:
            original(managers, names, *args)

    guards.install_no_tensor_aliasing_guard = install_no_tensor_aliasing_guard


def witness():
    def program(x, y):
        x.add_(1)
        return x * y

    both = torch.arange(4.0)
    return program, [(torch.arange(4.0), torch.ones(4)), (both, both)]


plant()
