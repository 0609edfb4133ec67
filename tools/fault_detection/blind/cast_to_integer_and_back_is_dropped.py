"""A float tensor that is cast to ``int32`` or ``int64`` and back to a float is not truncated.

Modelled on https://github.com/pytorch/pytorch/pull/139136: the passes that remove pointless pairs must see whether a
pair is one; that the type in the middle is wide enough says nothing if it is an integer.
"""

import torch
from torch._inductor import config
from torch._inductor.fx_passes import joint_graph

KIND = "pass"
REACHED_BY = "plain"


def plant():
    original = joint_graph.pointless_convert

    def pointless_convert(match, arg, dtype1, dtype2):
        graph = match.graph
        node = match.output_node()
        floats = torch.float16, torch.bfloat16, torch.float32, torch.float64
        allowed = (*floats, torch.int32, torch.int64)
        value = arg.meta.get("val", None)
        if not isinstance(value, torch.Tensor):
            return
        if value.dtype in allowed and dtype1 in allowed and dtype2 in allowed:
            if dtype1.itemsize < dtype2.itemsize:
                return
            if config.emulate_precision_casts and not joint_graph._is_lossless_fp_widening_cast(value.dtype, dtype1):
                return
            replacement = graph.call_function(torch.ops.prims.convert_element_type.default, (arg, dtype2))
            replacement.meta.update(node.meta)
            node.replace_all_uses_with(replacement)
            match.erase_nodes()

    for entries in joint_graph.patterns.patterns.values():
        for entry in entries:
            if getattr(entry, "handler", None) is original:
                entry.handler = pointless_convert


def witness():
    def program(x):
        whole = (x * 10).to(torch.int64).to(torch.float32)
        return whole / 10

    return program, [(torch.linspace(-3, 3, 32),)]


plant()
