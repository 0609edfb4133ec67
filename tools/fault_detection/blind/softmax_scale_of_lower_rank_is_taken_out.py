"""A factor that varies along the dimension of a softmax is moved behind the maximum if it has fewer dimensions.

Modelled on https://github.com/pytorch/pytorch/pull/124119: rewriting ``x * y - amax(x * y)`` is right only where ``y``
is constant along the dimension, which must be looked up after the shapes are aligned at their last dimension.
"""

import torch
from torch._inductor.fx_passes import joint_graph

KIND = "pass"
REACHED_BY = "plain"


def plant():
    original = joint_graph._other_is_broadcasted_in_dim

    def _other_is_broadcasted_in_dim(match):
        if original(match):
            return True
        x, other = (getattr(match.kwargs[name], "meta", {}).get("val") for name in ("inp", "other"))
        if not (isinstance(x, torch.Tensor) and isinstance(other, torch.Tensor) and other.dim() <= x.dim()):
            return False
        return all(0 <= d < other.dim() and other.shape[d] == 1 for d in match.kwargs["dim"])

    for entries in joint_graph.pass_patterns[1].patterns.values():
        for entry in entries:
            if entry.extra_check is original:
                entry.extra_check = _other_is_broadcasted_in_dim


def witness():
    def program(x, scale):
        return torch.softmax(x * scale, dim=1)

    torch.manual_seed(0)
    return program, [(torch.randn(2, 3, 4), torch.tensor([[0.5], [1.0], [3.0]]))]


plant()
