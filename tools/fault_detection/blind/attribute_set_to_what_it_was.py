"""A store to an attribute is left out where the attribute had that value already while the program was traced.

Modelled on https://github.com/pytorch/pytorch/issues/98928, where nothing guarded the value of an attribute: leaving
out stores that change nothing looks like a harmless saving of side effects that have to be replayed, but nothing
guards the old value if the program only writes the attribute, and the next object that comes along may hold another
one.
"""

import torch
from torch._dynamo.side_effects import SideEffects
from torch._dynamo.variables.base import AttributeMutationExisting
from torch._dynamo.variables.user_defined import UserDefinedObjectVariable

KIND = "dynamo-side-effects"
REACHED_BY = "plain"


def plant():
    original = SideEffects.store_attr

    def changes_nothing(self, item, name, value):
        if not isinstance(item, UserDefinedObjectVariable):
            return False
        if not isinstance(item.mutation_type, AttributeMutationExisting):
            return False
        attributes = getattr(item.value, "__dict__", {})
        if name not in attributes or name in self.store_attr_mutations.get(item, ()):
            return False
        if not value.is_python_constant():
            return False
        old, new = attributes[name], value.as_python_constant()
        return type(old) is type(new) and type(new) in (bool, int, float, str, type(None)) and old == new

    def store_attr(self, item, name, value, *args, **kwargs):
        if not changes_nothing(self, item, name, value):
            original(self, item, name, value, *args, **kwargs)

    SideEffects.store_attr = store_attr


def witness():
    class State:
        ready = False

    state = State()

    @torch.compiler.disable
    def begin(ready):
        state.ready = ready

    def program(x, ready):
        begin(ready)
        state.ready = True
        y = x + 1
        torch._dynamo.graph_break()
        if state.ready:
            return y * 2
        return y

    return program, [(torch.arange(4.0), True), (torch.arange(4.0), False)]


plant()
