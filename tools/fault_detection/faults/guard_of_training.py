"""No guard on the ``training`` flag of modules inside the compiled one: dropout stays as it was at the first call.

Modelled on https://github.com/pytorch/pytorch/issues/105653: compiled code was used again after ``training`` changed.
"""

import functools

import torch
from torch._dynamo.guards import GuardBuilder

KIND = "dynamo-guard"
REACHED_BY = "plain"


def plant():
    original = GuardBuilder.BOOL_MATCH

    @functools.wraps(original)
    def BOOL_MATCH(self, guard):
        if "_modules" in guard.name and "training" in guard.name:
            return
        original(self, guard)

    GuardBuilder.BOOL_MATCH = BOOL_MATCH


def witness():
    def program(model, x):
        return model(x)

    def model(training):
        return torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Dropout(0.5)).train(training)

    x = torch.arange(-32.0, 32.0)
    return program, [(model(True), x), (model(False), x)]


plant()
