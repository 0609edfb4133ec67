"""A program that goes through the values of a dictionary is used again when the same keys come in another order.

Modelled on https://github.com/pytorch/pytorch/pull/124779: guards on the order of keys became something that each use
of a dictionary has to ask for, because a look-up by key does not need it. Here ``keys`` and ``items`` ask for it, and
``values`` does not.
"""

import torch
from torch._dynamo.variables import dicts
from torch._dynamo.variables.iter import DictValuesIterator

KIND = "dynamo-guard"
REACHED_BY = "plain"
TORCH = ">=2.15"
LACKS = "torch._dynamo.variables.dicts.ConstDictVariable.dict_values"


def plant():
    def dict_values(self, tx, args, kwargs):
        self.install_dict_keys_match_guard()
        return DictValuesVariable(self)  # noqa: F821 (a name of the patched module)

    def tp_iter_impl(self, tx):
        return DictValuesIterator(self.dv_dict.items)

    # The table of methods holds the function itself, so its code is exchanged and not the function.
    dicts.ConstDictVariable.dict_values.__code__ = dict_values.__code__
    dicts.DictValuesVariable.tp_iter_impl = tp_iter_impl


def witness():
    def program(parts):
        total = 0.0
        for position, part in enumerate(parts.values()):
            total = total + part * (position + 1)
        return total

    first, second = torch.arange(4.0), torch.arange(4.0) + 10.0
    return program, [({"a": first, "b": second},), ({"b": second, "a": first},)]


plant()
