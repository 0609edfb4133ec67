"""In a vectorised kernel, the minimum of NaN and a number is the number.

Modelled on https://github.com/pytorch/pytorch/issues/93784: ``clamp`` and ``minimum`` passed NaN on from only one of
their arguments.
"""

import torch
from torch._inductor.codegen.cpp import CppVecOverrides

KIND = "codegen"
REACHED_BY = "plain"


def plant():
    original = CppVecOverrides.minimum

    def minimum(a, b):
        if a.dtype in (torch.float32, torch.float64):
            return f"decltype({a})::blendv({b}, {a}, {a} < {b})"
        return original(a, b)

    CppVecOverrides.minimum = staticmethod(minimum)


def witness():
    def program(x):
        return torch.sqrt(x).clamp(max=3.0)

    return program, [(torch.linspace(-5, 25, 64),)]


plant()
