"""A loop over ``range`` of a dynamic size runs as often as it did for the size with which the program was traced.

Modelled on https://github.com/pytorch/pytorch/pull/88149: for ``range`` of a symbolic size Dynamo needs a number, and
the review asked whether taking it out really guards. Here the value that the size happens to have is used, and nothing
binds the unrolled loop to it.
"""

import torch
from torch._dynamo.variables.builtin import BuiltinVariable
from torch._dynamo.variables.constant import ConstantVariable
from torch._dynamo.variables.tensor import SymNodeVariable

KIND = "symbolic-shapes"
REACHED_BY = "plain"


def plant():
    original = BuiltinVariable.call_range

    def number(argument):
        argument = argument.realize()
        if not isinstance(argument, SymNodeVariable) or not isinstance(argument.sym_num, torch.SymInt):
            return argument
        node = argument.sym_num.node
        return ConstantVariable.create(int(node.hint)) if node.has_hint() else argument

    def call_range(self, tx, *args, **kwargs):
        return original(self, tx, *[number(argument) for argument in args], **kwargs)

    BuiltinVariable.call_range = call_range


def witness():
    def program(x):
        total = torch.zeros(2)
        for i in range(x.shape[0]):
            total = total + x[i] * (i + 1)
        return total

    return program, [(torch.arange(2.0 * n).reshape(n, 2),) for n in (3, 4, 6)]


plant()
