"""``zip(..., strict=True)`` does not complain if a later iterable is longer than the first one.

Modelled on https://github.com/pytorch/pytorch/pull/114018: a strict ``zip`` must raise ``ValueError`` if the lengths
differ, also if it is the first iterable that ends.
"""

import torch
from torch._dynamo.variables import iter as iterators

KIND = "dynamo-variable"
REACHED_BY = "plain"


def plant():
    iterators.is_iterator_exhausted = lambda tx, iterator: True


def witness():
    def program(x, factors, shifts):
        try:
            for factor, shift in zip(factors, shifts, strict=True):
                x = x * factor + shift
        except ValueError:
            return x - 100
        return x

    return program, [(torch.arange(4.0), [2.0, 3.0], [1.0, 0.5, 4.0])]


plant()
