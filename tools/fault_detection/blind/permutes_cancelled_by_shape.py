"""Two permutations in a row are removed wherever the shape is the same afterwards, as if they were views.

Modelled on https://github.com/pytorch/pytorch/pull/139136: the pass that removes pointless pairs compares the shapes
of views, which says nothing about permutations of dimensions of equal size.
"""

import torch
from torch._inductor.fx_passes import joint_graph

KIND = "pass"
REACHED_BY = "rewrite"


def plant():
    original = joint_graph.pointless_permute_pair

    def pointless_permute_pair(match, arg, perm1, perm2):
        node = match.output_node()
        if joint_graph.definitely_equal(list(arg.meta["val"].shape), list(node.meta["val"].shape)):
            node.replace_all_uses_with(arg)
            match.erase_nodes()

    for entries in joint_graph.early_patterns.patterns.values():
        for entry in entries:
            if getattr(entry, "handler", None) is original:
                entry.handler = pointless_permute_pair


def witness():
    def program(x):
        return x.transpose(0, 1).transpose(1, 2) + 1

    return program, [(torch.arange(8.0).reshape(2, 2, 2),)]


plant()
