"""Parts of a split that are put together again give the whole, in whatever order they are put together.

Modelled on https://github.com/pytorch/pytorch/pull/99700: a split and the ``cat`` of its parts were removed together
although the parts were in another order.
"""

import torch
from torch._inductor.fx_passes import post_grad

KIND = "pattern"
REACHED_BY = "rewrite"


def plant():
    original = post_grad.is_valid_splitwithsizes_cat

    def is_valid_splitwithsizes_cat(match):
        if original(match):
            return True
        split = next(n for n in match.nodes if n.target is torch.ops.aten.split_with_sizes.default)
        cat = match.output_node()
        parts = [item.args[1] for item in cat.args[0] if item.args[0] is split]
        along = cat.args[1] if len(cat.args) > 1 else 0
        return sorted(parts) == list(range(len(split.args[1]))) and (split.args[2:] or (0,))[0] == along

    for one_pass in post_grad.pass_patterns:
        for entries in one_pass.patterns.values():
            for entry in entries:
                if entry.extra_check is original:
                    entry.extra_check = is_valid_splitwithsizes_cat


def witness():
    def program(x):
        a, b = torch.split(x, [4, 4], 1)
        return torch.cat([b, a], 1) + 1

    return program, [(torch.arange(24.0).reshape(3, 8),)]


plant()
