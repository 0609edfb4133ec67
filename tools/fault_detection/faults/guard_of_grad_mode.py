"""No guard on the modes that were on when compiling with gradients on: ``no_grad`` around a later call is not seen.

Modelled on https://github.com/pytorch/pytorch/issues/114338: under ``no_grad`` compiled code gave outputs whose
``requires_grad`` was not that of eager.
"""

import functools

import torch
from torch._dynamo.guards import GuardBuilder

KIND = "dynamo-guard"
REACHED_BY = "plain"


def plant():
    original = GuardBuilder.GLOBAL_STATE

    @functools.wraps(original)
    def GLOBAL_STATE(self, guard):
        if not torch.is_grad_enabled():
            original(self, guard)

    GuardBuilder.GLOBAL_STATE = GLOBAL_STATE


def witness():
    def program(x):
        y = x * 2 if torch.is_grad_enabled() else x * 3
        torch.set_grad_enabled(False)
        return y

    torch.set_grad_enabled(True)
    return program, [(torch.ones(3),), (torch.ones(3),)]


plant()
