"""In the quotient of an index, a loop variable smaller than the divisor is left out, whatever the rest may be.

Modelled on https://github.com/pytorch/pytorch/pull/176345: a variable may be dropped from ``(rest + v) // divisor`` if
it is smaller than the greatest common divisor of the rest and the divisor. Here it only has to be smaller than the
divisor, which is the same as long as the rest is a multiple of it.
"""

import inspect
import textwrap

import torch
from torch._inductor import sizevars

KIND = "index-simplification"
REACHED_BY = "plain"


def plant():
    function = sizevars.SizeVarAllocator._simplify_with_ranges
    right = "if statically_known(v < gcd):"
    wrong = "if gcd and statically_known(v < divisor):"
    source = textwrap.dedent(inspect.getsource(function))
    if source.count(right) != 1:
        raise RuntimeError("the place for this fault has changed")
    scope = {}
    exec(source.replace(right, wrong), vars(sizevars), scope)
    sizevars.SizeVarAllocator._simplify_with_ranges = scope[function.__name__]


def witness():
    def program(x, bias):
        return x.t().reshape(4, 3) + bias

    return program, [(torch.arange(12.0).reshape(4, 3), torch.tensor([0.0, 100.0, 200.0]))]


plant()
