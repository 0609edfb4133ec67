"""No guard on a key being absent from a dictionary: the default is taken in later calls that do give the key.

Modelled on https://github.com/pytorch/pytorch/issues/197859: an entry that was added to the dictionary of a module's
attributes after compiling was not seen, and the compiled code went on with what it had found elsewhere.
"""

import functools

import torch
from torch._dynamo.guards import GuardBuilder
from torch._dynamo.variables.dicts import ConstDictVariable

KIND = "dynamo-guard"
REACHED_BY = "plain"


def plant():
    @functools.wraps(GuardBuilder.DICT_NOT_CONTAINS)
    def DICT_NOT_CONTAINS(self, guard, key):
        return

    ConstDictVariable.NOT_CONTAINS_GUARD = DICT_NOT_CONTAINS


def witness():
    def program(x, options):
        return x * options["scale"] + options.get("shift", 0)

    return program, [(torch.ones(3), {"scale": 2}), (torch.ones(3), {"scale": 2, "shift": 5})]


plant()
