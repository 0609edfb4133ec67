"""An ``if`` takes an object that has a length of 0, defined in Python, for true.

Modelled on https://github.com/pytorch/pytorch/issues/102315: ``if`` on an empty ``ModuleList`` took the branch for true
ones under compile, other than ``if bool()``.
"""

import types

import torch
from torch._dynamo import symbolic_convert
from torch._dynamo.variables.constant import ConstantVariable
from torch._dynamo.variables.user_defined import UserDefinedObjectVariable

KIND = "dynamo-control-flow"
REACHED_BY = "rewrite"


def plant():
    name = "generic_is_true" if hasattr(symbolic_convert, "generic_is_true") else "generic_bool"  # before 2.14
    original = getattr(symbolic_convert, name)

    def is_true(tx, obj):
        if isinstance(obj, UserDefinedObjectVariable):
            cls = obj.python_type()
            if not hasattr(cls, "__bool__") and isinstance(getattr(cls, "__len__", None), types.FunctionType):
                return ConstantVariable.create(True)
        return original(tx, obj)

    setattr(symbolic_convert, name, is_true)


def witness():
    class Layers(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = []

        def __len__(self):
            return len(self.layers)

    layers = Layers()

    def program(x):
        if layers:
            return x * 2
        return x + 1

    return program, [(torch.arange(3.0),)]


plant()
