"""No guard on a float argument between 0 and 1: the next call gets the result for the first value.

Modelled on https://github.com/pytorch/pytorch/issues/117496: the value of a float argument at the first call was used
in the later ones.
"""

import functools

import torch
from torch._dynamo.guards import GuardBuilder

KIND = "dynamo-guard"
REACHED_BY = "plain"


def plant():
    original = GuardBuilder.EQUALS_MATCH

    @functools.wraps(original)
    def EQUALS_MATCH(self, guard, *args, **kwargs):
        value = self.get(guard)
        if type(value) is float and 0 < value < 1:
            return
        original(self, guard, *args, **kwargs)

    GuardBuilder.EQUALS_MATCH = EQUALS_MATCH


def witness():
    def program(x, factor):
        return x * factor

    return program, [(torch.ones(3), 0.5), (torch.ones(3), 0.75)]


plant()
