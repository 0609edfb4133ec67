"""A returned view of an input that itself starts inside its storage is shifted by that offset once more.

Modelled on https://github.com/pytorch/pytorch/pull/191002: a view that is returned is rebuilt on the input of the call,
and the offset of the input must be added only if the compiled code worked on a copy of it.
"""

import torch
import torch._dynamo
from torch._functorch._aot_autograd import runtime_wrappers

KIND = "AOTAutograd"
REACHED_BY = "plain"


def plant():
    original = runtime_wrappers.gen_alias_from_base

    def gen_alias_from_base(base, target, *arguments, **options):
        out = original(base, target, *arguments, **options)
        if target._base is None and base.storage_offset() and out.dtype == base.dtype:
            offset = base.storage_offset() + out.storage_offset()
            out = out.as_strided(out.size(), out.stride(), offset)
        return out

    runtime_wrappers.gen_alias_from_base = gen_alias_from_base


def witness():
    table = torch.arange(40.0)[4:20]

    def program(x):
        return x * table[0], table[3:6]

    return program, [(torch.arange(4.0),)]


plant()
