"""A loop over a list runs over the items that were there when the loop began, not over those appended meanwhile.

Modelled on https://github.com/pytorch/pytorch/issues/175855: a loop that appends to the list it runs over, as a
worklist does, ended early when compiled.
"""

import torch
from torch._dynamo.variables.lists import ListIteratorVariable

KIND = "dynamo-variable"
REACHED_BY = "rewrite"


def plant():
    original = ListIteratorVariable.__init__

    def __init__(self, items, *args, **kwargs):
        original(self, list(items), *args, **kwargs)

    ListIteratorVariable.__init__ = __init__


def witness():
    def program(x):
        work = [x]
        for item in work:
            if len(work) < 4:
                work.append(item + 1)
        return torch.stack(work)

    return program, [(torch.ones(3),)]


plant()
