"""Group normalisation adds its epsilon after the root instead of before it.

Modelled on https://github.com/pytorch/pytorch/issues/181694: the decomposition of group normalisation gave other
values than its kernel.
"""

import torch
from torch._inductor.decomposition import decompositions

KIND = "decomposition"
REACHED_BY = "plain"


def plant():
    def native_group_norm(input, weight, bias, N, C, HxW, group, eps):
        parts = input.reshape(N, group, -1)
        variance, mean = torch.var_mean(parts, dim=2, correction=0, keepdim=True)
        rstd = 1 / (variance.sqrt() + eps)
        out = ((parts - mean) * rstd).reshape(input.shape)
        along = [1, C] + [1] * (input.dim() - 2)
        if weight is not None:
            out = out * weight.reshape(along)
        if bias is not None:
            out = out + bias.reshape(along)
        return out, mean.reshape(N, group), rstd.reshape(N, group)

    decompositions[torch.ops.aten.native_group_norm.default] = native_group_norm


def witness():
    x = torch.linspace(-0.01, 0.01, 48).reshape(2, 4, 6)
    return lambda x: torch.nn.functional.group_norm(x, 2), [(x,)]


plant()
