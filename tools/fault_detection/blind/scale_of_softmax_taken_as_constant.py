"""A softmax of a product is rescaled as if a factor of fewer dimensions were the same for all elements of a row.

Modelled on https://github.com/pytorch/pytorch/pull/124119: ``scale(x) - scale(x).amax()`` is replaced by
``scale(x - x.amax())``, which only holds where the scale is broadcast in the dimension of the maximum.
"""

import torch
from torch._inductor.fx_passes import joint_graph

KIND = "pass"
REACHED_BY = "plain"


def plant():
    original = joint_graph._other_is_broadcasted_in_dim

    def is_broadcast(match):
        example, other = (getattr(match.kwargs[name], "meta", {}).get("val") for name in ("inp", "other"))
        if isinstance(example, torch.Tensor) and isinstance(other, torch.Tensor) and other.ndim < example.ndim:
            return True
        return original(match)

    for patterns in joint_graph.pass_patterns:
        for entries in patterns.patterns.values():
            for entry in entries:
                if entry.extra_check is original:
                    entry.extra_check = is_broadcast


def witness():
    def program(x, weight):
        return torch.softmax(x * weight, dim=-1)

    return program, [(torch.arange(6.0).reshape(2, 3), torch.tensor([1.0, 2.0, 0.5]))]


plant()
