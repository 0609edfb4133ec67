"""A joint pass swaps the operands of a subtraction."""

import torch
from torch._inductor.fx_passes import joint_graph

MET_BY = r"\w\)? - \w"


def plant():
    original = joint_graph.remove_no_ops

    def remove_no_ops(gm, zeros, ones):
        for node in gm.graph.find_nodes(op="call_function", target=torch.ops.aten.sub.Tensor):
            first, second = node.args
            if isinstance(second, torch.fx.Node) and first.meta["val"].shape == second.meta["val"].shape:
                node.args = (second, first)
        return original(gm, zeros, ones)

    joint_graph.remove_no_ops = remove_no_ops


plant()
