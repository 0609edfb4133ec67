"""No guard on integers that are attributes of the compiled module: they stay as at the first call.

Modelled on https://github.com/pytorch/pytorch/issues/124717: the value of an attribute of a user's module was not
guarded on, and the branch of the first call was taken after it changed.
"""

import functools
import re

import torch
from torch._dynamo.guards import GuardBuilder

KIND = "dynamo-guard"
REACHED_BY = "plain"

ATTRIBUTE = re.compile(r"L\['\w+'\]\.\w+")


def plant():
    original = GuardBuilder.EQUALS_MATCH

    @functools.wraps(original)
    def EQUALS_MATCH(self, guard, *args, **kwargs):
        if type(self.get(guard)) is int and ATTRIBUTE.fullmatch(guard.name):
            return
        original(self, guard, *args, **kwargs)

    GuardBuilder.EQUALS_MATCH = EQUALS_MATCH


class Power(torch.nn.Module):
    def __init__(self, exponent):
        super().__init__()
        self.exponent = exponent

    def forward(self, x):
        for _ in range(self.exponent):
            x = x * 2
        return x


def witness():
    def program(model, x):
        return model(x)

    return program, [(Power(1), torch.ones(3)), (Power(3), torch.ones(3))]


plant()
