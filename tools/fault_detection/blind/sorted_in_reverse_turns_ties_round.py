"""Elements that compare equal come in reverse order out of a sort with ``reverse=True``.

Modelled on https://github.com/pytorch/pytorch/pull/139279: a keyword of a built-in container had another effect in
Dynamo than in Python; a reversed sort must be stable too, so it is no forward sort that is turned round.
"""

import operator

import torch
from torch._dynamo import variables
from torch._dynamo.exc import ObservedException, Unsupported, raise_observed_exception
from torch._dynamo.variables.base import Method
from torch._dynamo.variables.constant import ConstantVariable
from torch._dynamo.variables.lists import BaseListVariable, ListVariable

KIND = "dynamo-variable"
REACHED_BY = "plain"


def plant():
    original = BaseListVariable.list_sort

    def list_sort(self, tx, args, kwargs):
        if not self.is_mutable() or args or set(kwargs) - {"key", "reverse"}:
            return original(self, tx, args, kwargs)
        key_function = kwargs.pop("key", ConstantVariable.create(None))
        reverse = kwargs.pop("reverse", ConstantVariable.create(False)).as_python_constant()
        tx.output.side_effects.mutation(self)
        saved = list(self.items)
        self.items.clear()

        class TracedKey:
            def __init__(self, key):
                self.key = key

            def __lt__(self, other):
                result = variables.BuiltinVariable(operator.lt).call_function(tx, [self.key, other.key], {})
                return bool(result.as_python_constant())

        try:
            if key_function.is_constant_none():
                keys = saved
            else:
                keys = [key_function.call_function(tx, [item], {}) for item in saved]
            if all(key.is_python_constant() for key in keys):
                order = sorted(range(len(saved)), key=lambda i: keys[i].as_python_constant())
            else:
                order = sorted(range(len(saved)), key=lambda i: TracedKey(keys[i]))
            if reverse:
                order.reverse()
            new_items = [saved[i] for i in order]
        except Exception as error:
            self.items[:] = saved
            if isinstance(error, (ObservedException, Unsupported)):
                raise
            raise_observed_exception(type(error), tx, args=list(error.args))
        modified_during_sort = bool(self.items)
        self.items[:] = new_items
        if modified_during_sort:
            raise_observed_exception(ValueError, tx, args=["list modified during sort"])
        return ConstantVariable.create(None)

    BaseListVariable.list_sort = list_sort
    ListVariable.tp_methods["sort"] = Method(list_sort)


def witness():
    def program(x, y):
        branches = [(1, x + 1), (2, y * 2), (2, x * y), (0, y - 3)]
        total = torch.zeros_like(x)
        for _, branch in sorted(branches, key=lambda pair: pair[0], reverse=True):
            total = total * 2 + branch
        return total

    return program, [(torch.arange(4.0), torch.arange(4.0) + 5)]


plant()
