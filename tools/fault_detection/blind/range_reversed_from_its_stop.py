"""A slice of a range with a negative step begins at the element before the stop, be that in the range or not.

Modelled on https://github.com/pytorch/pytorch/pull/128567: Dynamo took slices of ranges for slices of the list of their
start, stop and step.
"""

import torch
from torch._dynamo.variables.constant import ConstantVariable
from torch._dynamo.variables.lists import RangeVariable

KIND = "dynamo-variable"
REACHED_BY = "rewrite"


def plant():
    original = RangeVariable.apply_slice

    def apply_slice(self, part):
        result = original(self, part)
        if part.step is not None and part.step < 0 and part.start is None:
            result.items[0] = ConstantVariable.create(self.stop() + (1 if self.step() < 0 else -1))
        return result

    RangeVariable.apply_slice = apply_slice


def witness():
    def program(x):
        for i in range(0, 8, 3)[::-1]:
            x = x * 2 + i
        return x

    return program, [(torch.arange(3.0),)]


plant()
