"""A key that is removed from a dictionary and set again comes back where it was, not at the end.

Modelled on https://github.com/pytorch/pytorch/pull/187584: a key that was popped from ``obj.__dict__`` and inserted
again took its old place in the order.
"""

import torch
from torch._dynamo.variables.dicts import ConstDictVariable
from torch._dynamo.variables.hashable import HashableTracker

KIND = "dynamo-variable"
REACHED_BY = "rewrite"


def plant():
    original = ConstDictVariable.mp_ass_subscript_impl

    def mp_ass_subscript_impl(self, tx, key, value):
        is_new = value is not None and HashableTracker(key) not in self.items
        result = original(self, tx, key, value)
        if is_new:
            slots = [k if isinstance(k, HashableTracker) else HashableTracker(k) for k in self.original_items]
            if HashableTracker(key) in slots:
                items = dict(self.items)
                self.items.clear()
                self.items.update({k: items.pop(k) for k in slots if k in items})
                self.items.update(items)
        return result

    ConstDictVariable.mp_ass_subscript_impl = mp_ass_subscript_impl


def witness():
    def program(x):
        parts = {"first": x, "second": x * 2}
        moved = parts.pop("first")
        parts["first"] = moved + 1
        return torch.cat(list(parts.values()))

    return program, [(torch.arange(3.0),)]


plant()
