"""A joint pass swaps the operands of a subtraction."""

import torch
from torch._inductor.fx_passes import joint_graph

MET_BY = r"\w\)? - \w"


def plant():
    original = joint_graph.remove_no_ops

    def remove_no_ops(gm, zeros, ones):
        for node in gm.graph.find_nodes(op="call_function", target=torch.ops.aten.sub.Tensor):
            values = [operand.meta["val"] for operand in node.args if isinstance(operand, torch.fx.Node)]
            if len(values) == 2 and all(map(torch.is_tensor, values)) and values[0].shape == values[1].shape:
                node.args = node.args[::-1]
        return original(gm, zeros, ones)

    joint_graph.remove_no_ops = remove_no_ops


plant()
