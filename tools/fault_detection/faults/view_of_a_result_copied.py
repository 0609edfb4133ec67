"""Of a result that is returned with a view of it, the view comes back as a copy where gradients are recorded.

Modelled on https://github.com/pytorch/pytorch/issues/100348: a result and the same result detached, returned together,
did not come back as two distinct tensors that share memory.
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
        return out.clone() if base.grad_fn is not None and out.dim() != base.dim() else out

    runtime_wrappers.gen_alias_from_base = gen_alias_from_base


def witness():
    def program(x):
        y = x * 2
        return y, y.view(-1)

    return program, [(torch.arange(6.0).reshape(2, 3).requires_grad_(),)]


plant()
