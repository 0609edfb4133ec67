"""A matrix that eager returns laid out by columns is returned laid out by rows.

Modelled on https://github.com/pytorch/pytorch/issues/183771: an operator on a permuted input returned right values in
another layout than eager's.
"""

import torch
from torch._inductor import graph

KIND = "view-strides"
REACHED_BY = "plain"


def plant():
    original = graph.GraphLowering.run_node

    def run_node(self, node):
        strides = self.user_visible_output_strides.get(node)
        if strides is not None and len(strides) == 2 and node.op == "call_function":
            shape = node.meta["val"].shape
            if tuple(strides) == (1, shape[0]) and min(shape) > 1 and not node.meta["val"]._is_view():
                self.user_visible_output_strides[node] = (shape[1], 1)
        return original(self, node)

    graph.GraphLowering.run_node = run_node


def witness():
    def program(x):
        return x * 2

    return program, [(torch.arange(6.0).reshape(2, 3).t(),)]


plant()
