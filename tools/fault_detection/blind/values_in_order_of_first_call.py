"""Code that loops over the values of a dictionary is run again for one with the same keys in another order.

Modelled on https://github.com/pytorch/pytorch/pull/187584: the order of the keys of a dictionary was not that of eager;
where a loop depends on it, the guard must compare the keys in their order, not as a set.
"""

import torch
from torch._dynamo.variables.base import Method
from torch._dynamo.variables.dicts import ConstDictVariable, DictValuesVariable
from torch._dynamo.variables.iter import DictValuesIterator

KIND = "guards"
REACHED_BY = "plain"


def plant():
    def dict_values(self, tx, args, kwargs):
        self.install_dict_keys_match_guard()
        return DictValuesVariable(self)

    def tp_iter_impl(self, tx):
        dictionary = self.dv_dict
        if dictionary.source:
            dictionary.install_dict_keys_match_guard()
        return DictValuesIterator(dictionary.items)

    ConstDictVariable.dict_values = dict_values
    ConstDictVariable.tp_methods["values"] = Method(dict_values)
    DictValuesVariable.tp_iter_impl = tp_iter_impl


def witness():
    def program(x, terms):
        for term in terms.values():
            x = x * 2 + term
        return x

    a, b = torch.full((3,), 1.0), torch.full((3,), 5.0)
    return program, [(torch.arange(3.0), {"bias": a, "skip": b}), (torch.arange(3.0), {"skip": b, "bias": a})]


plant()
