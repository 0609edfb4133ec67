"""A contiguous gradient of an output that is laid out otherwise is reinterpreted in that layout, not copied into it.

Modelled on https://github.com/pytorch/pytorch/issues/124397: the gradients that come into a compiled backward were not
brought into the layout that it had been traced for.
"""

import torch
import torch._functorch.aot_autograd  # alone, the next import is circular
from torch._functorch._aot_autograd import runtime_wrappers

KIND = "aot-tangents"
REACHED_BY = "plain"


def plant():
    original = runtime_wrappers.coerce_to_expected_memory_format

    def coerce_to_expected_memory_format(x, memory_format):
        size, stride = memory_format.size, memory_format.stride
        if memory_format.memory_format is None and x.is_contiguous() and 0 not in stride:
            return x.as_strided(size, stride)
        return original(x, memory_format)

    runtime_wrappers.coerce_to_expected_memory_format = coerce_to_expected_memory_format


def witness():
    def program(x):
        return x.t() * 2

    return program, [(torch.arange(6.0).reshape(2, 3).requires_grad_(),)]


plant()
