"""The scale of a softmax is taken out of it where the scale is a vector that differs along the softmax itself.

Modelled on https://github.com/pytorch/pytorch/pull/124119: the rewrite of a scaled softmax for the sake of its rounding
is right only for a scale that is constant along the dimension.
"""

import torch
from torch._inductor.fx_passes import joint_graph

KIND = "joint-pass"
REACHED_BY = "plain"


def plant():
    original = joint_graph._other_is_broadcasted_in_dim

    def _other_is_broadcasted_in_dim(match):
        inp, other = match.kwargs["inp"], match.kwargs["other"]
        shapes = [getattr(getattr(node, "meta", {}).get("val"), "shape", None) for node in (inp, other)]
        if None in shapes or len(shapes[0]) <= len(shapes[1]):
            return original(match)
        padded = [*shapes[1], *[1] * (len(shapes[0]) - len(shapes[1]))]
        return all(padded[d] == 1 for d in match.kwargs["dim"])

    for entries in joint_graph.pass_patterns[1].patterns.values():
        for entry in entries:
            if entry.extra_check is original:
                entry.extra_check = _other_is_broadcasted_in_dim


def witness():
    def program(x, scale):
        return torch.softmax(x * scale, dim=-1)

    return program, [(torch.arange(12.0).reshape(3, 4) / 4, torch.tensor([0.5, 1.0, 2.0, -1.0]))]


plant()
