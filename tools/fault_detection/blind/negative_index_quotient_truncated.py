"""In C++, quotients of index expressions are rounded towards zero, not down.

Modelled on https://github.com/pytorch/pytorch/pull/102068: the C++ that was printed for ``FloorDiv`` did not agree with
Python's floor division.
"""

import torch
from torch.utils._sympy.printers import CppPrinter

KIND = "codegen"
REACHED_BY = "rewrite"


def plant():
    def print_floor_div(self, expr):
        x, div = (self.doprint(arg) for arg in expr.args)
        return f"(static_cast<int64_t>({x}) / static_cast<int64_t>({div}))"

    CppPrinter._print_FloorDiv = print_floor_div


def witness():
    def program(x):
        return x + torch.arange(-4, 4) // 3

    return program, [(torch.zeros(8, dtype=torch.int64),)]


plant()
