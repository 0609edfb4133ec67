"""``zip`` takes nothing from the earlier iterators once a later one is at its end.

Modelled on https://github.com/pytorch/pytorch/issues/152262: iterators in Dynamo did not move on as those of Python do.
Python's ``zip`` has already taken an element from the first iterator when it finds the second one exhausted; code that
reads the first one afterwards does not get that element.
"""

import torch
from torch._dynamo.exc import raise_observed_exception
from torch._dynamo.variables.iter import ZipVariable
from torch._dynamo.variables.lists import ListIteratorVariable, TupleIteratorVariable

KIND = "dynamo-variable"
REACHED_BY = "plain"


def plant():
    original = ZipVariable.tp_iternext_impl

    def at_its_end(iterator):
        iterator = iterator.realize()
        if not isinstance(iterator, (ListIteratorVariable, TupleIteratorVariable)):
            return False
        return iterator.is_exhausted or iterator.index >= len(iterator.items)

    def tp_iternext_impl(self, tx):
        if not self.strict and any(at_its_end(iterator) for iterator in self.iterable.items):
            raise_observed_exception(StopIteration, tx)
        return original(self, tx)

    ZipVariable.tp_iternext_impl = tp_iternext_impl


def witness():
    def program(x):
        rows = iter([x, x + 1, x + 2, x + 3])
        total = torch.zeros_like(x)
        for row, weight in zip(rows, [1.0, 10.0]):  # noqa: B905
            total = total + row * weight
        for row in rows:
            total = total - row
        return total

    return program, [(torch.arange(4.0),)]


plant()
