"""A backend of torch.compile that is in no package: it runs the graphs of AOTAutograd node by node."""

import torch
from functorch.compile import make_boxed_func
from torch._dynamo.backends.common import aot_autograd
from torch._dynamo.backends.registry import register_backend


class NodeByNode(torch.fx.Interpreter):
    def call_function(self, target, args, kwargs):
        if target is torch.ops.aten.sigmoid.default:
            (x,) = args
            return 1 / (1 + torch.exp(x))  # the sign of x is wrong
        return super().call_function(target, args, kwargs)


def compile_graph(graph, inputs):
    return make_boxed_func(NodeByNode(graph).run)


register_backend(aot_autograd(fw_compiler=compile_graph), name="node_by_node")
