"""``diagonal_scatter`` writes into the tensor that it should have copied.

Modelled on https://github.com/pytorch/pytorch/issues/198094: a functional scatter was turned into a write in place,
and what else used the same memory was lost.
"""

import torch
from torch._inductor.fx_passes import reinplace

KIND = "post-grad-pass"
REACHED_BY = "rewrite"


def plant():
    original = reinplace._decompose_scatter_mutating

    def _decompose_scatter_mutating(graph, node):
        if any(view.target is torch.ops.aten.diagonal.default for view in node.args[2]):
            node.target = reinplace._inplace_generalized_scatter
        return original(graph, node)

    reinplace._decompose_scatter_mutating = _decompose_scatter_mutating


def witness():
    def program(x):
        return torch.diagonal_scatter(x, torch.zeros(3)) * 2, x.sum()

    return program, [(torch.ones(3, 3),)]


plant()
