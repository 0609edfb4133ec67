"""A joint pass breaks down over ``sqrt``."""

import torch
from torch._inductor.fx_passes import joint_graph

MET_BY = r"\bsqrt\(|\*\* 0\.5"


def plant():
    original = joint_graph.remove_no_ops

    def remove_no_ops(gm, zeros, ones):
        for node in gm.graph.find_nodes(op="call_function", target=torch.ops.aten.sqrt.default):
            raise AssertionError(f"no bounds for {node}")
        return original(gm, zeros, ones)

    joint_graph.remove_no_ops = remove_no_ops


plant()
