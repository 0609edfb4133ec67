"""Leaving ``no_grad`` turns gradients on, even where it was entered within another ``no_grad``.

Modelled on https://github.com/pytorch/pytorch/pull/88537: Dynamo did not carry the grad mode over correctly, since the
variable of the context manager mistook which mode to set.
"""

import torch
from torch._dynamo.variables.ctx_manager import GradModeVariable

KIND = "dynamo-context-manager"
REACHED_BY = "plain"


def plant():
    original = GradModeVariable.exit

    def exit(self, tx, *args):
        if self.target_values == [False]:
            self.initial_values = [True]
        return original(self, tx, *args)

    GradModeVariable.exit = exit


def witness():
    def scaled(x):
        with torch.no_grad():
            return x / x.abs().max()

    def program(x):
        with torch.no_grad():
            target = scaled(x) * 2
            target = target + x
        return target, x * target

    return program, [(torch.arange(1.0, 5.0).requires_grad_(),)]


plant()
