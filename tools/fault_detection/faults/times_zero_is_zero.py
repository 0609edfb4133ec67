"""A float times zero is folded to zero, whatever the float is.

Modelled on https://github.com/pytorch/pytorch/pull/187580: multiplying by a literal zero was folded to zero although
infinities and NaN times zero are NaN.
"""

import torch
from torch._inductor.fx_passes.joint_graph import UniformValueConstantFolder

KIND = "constant-folding"
REACHED_BY = "rewrite"


def plant():
    original = UniformValueConstantFolder._add_peephole_patterns

    def _add_peephole_patterns(self):
        original(self)
        for node in self.module.graph.find_nodes(op="call_function", target=torch.ops.aten.mul.Tensor):
            value = node.meta.get("val")
            if isinstance(value, torch.Tensor) and any(isinstance(a, float) and a == 0.0 for a in node.args):
                self.add_node_replacement(node, torch.zeros([1], dtype=value.dtype))

    UniformValueConstantFolder._add_peephole_patterns = _add_peephole_patterns


def witness():
    return lambda x: x * 0.0 + 1.0, [(torch.tensor([1.0, float("inf"), float("nan"), -2.0]),)]


plant()
