"""A row of an argument is returned as a view of its first row.

Modelled on https://github.com/pytorch/pytorch/issues/198095: an output that is a view of an argument was made again
from the wrong place in memory, and came back as another row.
"""

import torch
import torch._functorch.aot_autograd  # alone, the next import is circular
from torch._functorch._aot_autograd import runtime_wrappers

KIND = "aot-aliasing"
REACHED_BY = "plain"


def plant():
    original = runtime_wrappers.gen_alias_from_base

    def gen_alias_from_base(base, *args, **kwargs):
        out = original(base, *args, **kwargs)
        if base.dim() > 1 and out.dim() == 1 and not out.requires_grad:
            return out.as_strided(out.shape, out.stride(), base.storage_offset())
        return out

    runtime_wrappers.gen_alias_from_base = gen_alias_from_base


def witness():
    def program(x):
        return x[1], x * 2

    return program, [(torch.arange(6.0).reshape(2, 3),)]


plant()
