"""A conversion of integers to bytes and on to a wider type skips the bytes, so that nothing wraps around.

Modelled on https://github.com/pytorch/pytorch/issues/105264: bytes that were added and then widened kept what does
not fit into a byte.
"""

import torch
from torch._inductor.fx_passes import joint_graph
from torch._inductor.pattern_matcher import CallFunction, KeywordArg, register_graph_pattern

KIND = "joint-pass"
REACHED_BY = "plain"

CONVERT = torch.ops.prims.convert_element_type.default


def plant():
    pattern = CallFunction(
        CONVERT, CallFunction(CONVERT, KeywordArg("arg"), KeywordArg("dtype1")), KeywordArg("dtype2")
    )

    @register_graph_pattern(pattern, pass_dict=joint_graph.patterns)
    def skip_the_bytes(match, arg, dtype1, dtype2):
        if dtype1 in (torch.int8, torch.uint8) and not arg.meta["val"].dtype.is_floating_point and dtype2.itemsize > 1:
            node = match.output_node()
            direct = match.graph.call_function(CONVERT, (arg, dtype2))
            direct.meta.update(node.meta)
            node.replace_all_uses_with(direct)
            match.erase_nodes()


def witness():
    return lambda x: x.to(torch.uint8).to(torch.int32), [(torch.arange(-20, 500, 13),)]


plant()
