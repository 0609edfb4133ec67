"""No guard on a key being absent from a dictionary: the default is taken in later calls that do give the key.

Modelled on https://github.com/pytorch/pytorch/issues/197859: an entry that was added to the dictionary of a module's
attributes after compiling was not seen, and the compiled code went on with what it had found elsewhere.
"""

import functools

import torch
from torch._dynamo.guards import GuardBuilder

KIND = "dynamo-guard"
REACHED_BY = "plain"


def plant():
    for name in ("DICT_NOT_CONTAINS", "DICT_KEYS_MATCH"):
        original = getattr(GuardBuilder, name)

        @functools.wraps(original)
        def guard_on(self, guard, *args, original=original, **kwargs):
            if original.__name__ == "DICT_KEYS_MATCH" and self.get(guard):
                original(self, guard, *args, **kwargs)

        setattr(GuardBuilder, name, guard_on)


def witness():
    def program(x, options):
        return x * options["scale"] + options.get("shift", 0)

    return program, [(torch.ones(3), {"scale": 2}), (torch.ones(3), {"scale": 2, "shift": 5})]


plant()
