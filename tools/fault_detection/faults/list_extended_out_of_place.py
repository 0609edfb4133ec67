"""``list += items`` makes a new list where the items come as a tuple, so that other names keep the old one.

Modelled on https://github.com/pytorch/pytorch/issues/153552: augmented assignments of sets were traced as their
functional forms, and the set itself stayed as it was.
"""

import torch
from torch._dynamo.variables.base import ValueMutationNew
from torch._dynamo.variables.lists import ListVariable, TupleVariable

KIND = "dynamo-variable"
REACHED_BY = "rewrite"


def plant():
    original = ListVariable.sq_inplace_concat_impl

    def sq_inplace_concat_impl(self, tx, other):
        if isinstance(other, TupleVariable):
            return ListVariable(self.items + other.items, mutation_type=ValueMutationNew())
        return original(self, tx, other)

    ListVariable.sq_inplace_concat_impl = sq_inplace_concat_impl


def witness():
    def program(x):
        alias = rows = [x]
        rows += (x + 1, x + 2)
        return torch.stack(alias)

    return program, [(torch.ones(3),)]


plant()
