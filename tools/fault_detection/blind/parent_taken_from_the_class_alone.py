"""``super()`` finds the next method in the parents of the class it is written in, whatever class the object has.

Modelled on https://github.com/pytorch/pytorch/pull/134039: a new resolution of attributes of ``super()`` was taken back
because it was wrong where classes inherit from one another in a diamond. The order of the object's class decides which
method comes next; the order of the writing class is the same only where there is a single line of parents.
"""

import inspect
import textwrap

import torch
from torch._dynamo.variables import misc

KIND = "dynamo-variable"
REACHED_BY = "plain"


def plant():
    function = misc.SuperVariable._resolved_getattr_and_source
    right = "for index in range(start_index, len(search_mro)):"
    wrong = "for index in map(search_mro.index, search_type.__mro__[1:]):"
    source = textwrap.dedent(inspect.getsource(function))
    if source.count(right) != 1:
        raise RuntimeError("the place for this fault has changed")
    scope = {}
    exec(source.replace(right, wrong), vars(misc), scope)
    misc.SuperVariable._resolved_getattr_and_source = scope[function.__name__]


def witness():
    class Layer:
        def apply(self, x):
            return x

    class Doubled(Layer):
        def apply(self, x):
            return super().apply(x) * 2

    class Shifted(Layer):
        def apply(self, x):
            return super().apply(x) + 1

    class ShiftedAndDoubled(Doubled, Shifted):
        pass

    layer = ShiftedAndDoubled()

    def program(x):
        return layer.apply(x)

    return program, [(torch.arange(4.0),)]


plant()
