"""Calls of one operator on the same arguments are merged in training although a keyword of theirs differs.

Modelled on https://github.com/pytorch/pytorch/pull/191173: the common subexpressions of AOTAutograd were compared such
that constants of different values were merged.
"""

import torch
import torch._functorch.aot_autograd  # alone, the next import is circular
from torch._functorch import compile_utils, partitioners

KIND = "aot-cse"
REACHED_BY = "plain"


def plant():
    original = partitioners.fx_graph_cse

    def fx_graph_cse(fx_g):
        graph = original(fx_g)
        seen = {}
        for node in graph.nodes:
            if not node.kwargs or not isinstance(node.target, torch._ops.OpOverload) or returned(node):
                continue
            if node.target._schema.is_mutable or compile_utils.get_aten_target(node) in compile_utils.rand_ops:
                continue
            token = (node.target, str(node.args), tuple(node.kwargs), described(node))
            first = seen.setdefault(token, node)
            if first is not node:
                node.replace_all_uses_with(first)
                graph.erase_node(node)
        return graph

    def returned(node):
        return any(user.op == "output" for user in node.users)

    def described(node):
        val = node.meta.get("val")
        return (str(val.dtype), str(val.shape), str(val.device)) if isinstance(val, torch.Tensor) else id(node)

    partitioners.fx_graph_cse = fx_graph_cse


def witness():
    def program(x):
        return x.var(-1, correction=0) * 10 + x.var(-1, correction=1)

    return program, [(torch.tensor([[1.0, 4.0, 2.0], [3.0, -1.0, 0.5]]).requires_grad_(),)]


plant()
