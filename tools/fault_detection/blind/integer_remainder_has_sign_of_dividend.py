"""The vectorised remainder of integers has the sign of the dividend instead of the divisor.

Modelled on https://github.com/pytorch/pytorch/pull/129849: the vectorised ``remainder`` needs a division that rounds
down, while the integer vectors of the CPU round towards zero.
"""

import torch
from torch._inductor.codegen.cpp import CppVecOverrides
from torch._prims_common import is_integer_dtype

KIND = "codegen"
REACHED_BY = "plain"


def plant():
    original = CppVecOverrides.remainder

    def remainder(a, b):
        if is_integer_dtype(a.dtype) and a.dtype == b.dtype:
            return f"{a} - ({CppVecOverrides.truncdiv(a, b)}) * {b}"
        return original(a, b)

    CppVecOverrides.remainder = staticmethod(remainder)


def witness():
    def program(x, y):
        return torch.remainder(x, y) + 1

    return program, [(torch.arange(-32, 32), torch.full((64,), 5))]


plant()
