"""A tensor of zeros minus something is taken for something minus zeros.

Modelled on https://github.com/pytorch/pytorch/issues/103924: the pass that folds tensors of one value into the
arithmetic around them made wrong graphs of it.
"""

import torch
from torch._inductor.fx_passes import joint_graph

KIND = "constant-folding"
REACHED_BY = "rewrite"


def plant():
    original = joint_graph.remove_no_ops

    def remove_no_ops(gm, zeros, ones):
        for node in gm.graph.find_nodes(op="call_function", target=torch.ops.aten.sub.Tensor):
            first, second = node.args
            if first in zeros and isinstance(second, torch.fx.Node):
                one, other = node.meta["val"], second.meta["val"]
                if (one.shape, one.dtype) == (other.shape, other.dtype) and not node.kwargs:
                    node.args = (second, first)
        return original(gm, zeros, ones)

    joint_graph.remove_no_ops = remove_no_ops


def witness():
    return lambda x: torch.zeros_like(x) - x, [(torch.arange(1.0, 20.0),)]


plant()
