"""No guard on the strides of matrices: one laid out by columns is taken for one laid out by rows.

Modelled on https://github.com/pytorch/pytorch/issues/172693: a strided tensor was taken for a contiguous one by code
that had been compiled for others.
"""

import functools

import torch
from torch._dynamo.guards import GuardBuilder

KIND = "dynamo-guard"
REACHED_BY = "plain"


def plant():
    original = GuardBuilder.TENSOR_MATCH

    @functools.wraps(original)
    def TENSOR_MATCH(self, guard, value=None):
        layouts = self.check_fn_manager.output_graph.input_source_to_sizes_strides
        layout = layouts.get(guard.originating_source)
        if layout is None or len(layout["stride"]) != 2:
            return original(self, guard, value)
        layouts[guard.originating_source] = {**layout, "stride": [None, None]}
        try:
            return original(self, guard, value)
        finally:
            layouts[guard.originating_source] = layout

    GuardBuilder.TENSOR_MATCH = TENSOR_MATCH


def witness():
    def program(x):
        return x * 2 + 1

    square = torch.arange(16.0).reshape(4, 4)
    return program, [(square,), (square.clone().t(),)]


plant()
