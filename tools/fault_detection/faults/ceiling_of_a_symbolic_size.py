"""Floor division of a negated symbolic size rounds towards zero, so that ``-(-n // k)`` is no ceiling.

Modelled on https://github.com/pytorch/pytorch/issues/169602: expressions of a negated symbolic size were worked out
with other rules of sign than Python's, in code that rounds a size up to a multiple.
"""

import sympy
import torch
from torch.utils._sympy.functions import FloorDiv

KIND = "dynamic-shape"
REACHED_BY = "rewrite"


def plant():
    original = FloorDiv.eval.__func__

    def eval(cls, base, divisor):
        if isinstance(base, sympy.Mul) and base.args[0] == -1 and isinstance(divisor, sympy.Integer) and divisor > 1:
            return -FloorDiv(-base, divisor)
        return original(cls, base, divisor)

    FloorDiv.eval = classmethod(eval)


def witness():
    def program(x):
        half = -(-x.shape[0] // 2)
        return x[:half] * 2

    return program, [(torch.arange(float(n)),) for n in (6, 8, 9)]


plant()
