"""A full deque that is appended to on the left drops the new element, not the last one.

Modelled on https://github.com/pytorch/pytorch/pull/139279: ``maxlen`` was enforced at the wrong end of a deque when
elements were added on its left.
"""

from collections import deque

import torch
from torch._dynamo.variables.lists import DequeVariable

KIND = "dynamo-variable"
REACHED_BY = "rewrite"


def plant():
    original = DequeVariable.call_method

    def call_method(self, tx, name, args, kwargs):
        maxlen = self.maxlen.as_python_constant()
        before = list(self.items)
        result = original(self, tx, name, args, kwargs)
        if name == "appendleft" and maxlen is not None:
            self.items[:] = [*args, *before][-maxlen:]
        return result

    DequeVariable.call_method = call_method


def witness():
    def program(x):
        recent = deque([x, x * 2], maxlen=2)
        recent.appendleft(x + 5)
        return recent[0] * 10 + recent[1]

    return program, [(torch.arange(4.0),)]


plant()
