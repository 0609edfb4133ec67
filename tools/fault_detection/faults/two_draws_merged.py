"""Two draws of uniform numbers of one size are taken for one common sub-expression where a gradient is recorded.

Modelled on https://github.com/pytorch/pytorch/issues/158643: a model with several random layers gave other outputs
than in eager.
"""

import sys

import torch
from torch._functorch import compile_utils

KIND = "randomness"
REACHED_BY = "rewrite"


def plant():
    draws = (torch.ops.aten.rand_like, torch.ops.aten.rand)
    for operator in draws:
        if operator in compile_utils.rand_ops:
            compile_utils.rand_ops.remove(operator)
    original = torch.fx.Node.is_impure

    def is_impure(node, *args, **kwargs):
        # Since 2.15 the pass asks this of each node too.
        if sys._getframe(1).f_code.co_name == "fx_graph_cse" and compile_utils.get_aten_target(node) in draws:
            return False
        return original(node, *args, **kwargs)

    torch.fx.Node.is_impure = is_impure


def witness():
    def program(x):
        return torch.rand_like(x) * x + torch.rand_like(x) * x.sin()

    return program, [(torch.arange(1.0, 65.0, requires_grad=True),)]


plant()
