"""Dynamo loses the last number of a range that is sliced backwards to its beginning.

Modelled on https://github.com/pytorch/pytorch/issues/128520: a subscript on a range was applied to its start, stop
and step, so that a slice of a range named other numbers than in Python.
"""

import torch
from torch._dynamo.variables.lists import RangeVariable

KIND = "dynamo-variable"
REACHED_BY = "rewrite"


def plant():
    original = RangeVariable._get_slice_indices

    def _get_slice_indices(self, length, slice):
        start, stop, step = original(self, length, slice)
        return [start, 0 if stop == -1 and step < 0 else stop, step]

    RangeVariable._get_slice_indices = _get_slice_indices


def witness():
    def program(x):
        total = x * 0
        for i in range(4)[::-1]:
            total = total * 2 + x * i + 1
        return total

    return program, [(torch.ones(3),)]


plant()
