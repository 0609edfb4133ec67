"""Parts of a split that are concatenated again in another order are replaced by the tensor that was split.

Modelled on https://github.com/pytorch/pytorch/pull/99700: the pass that drops a split and the concatenation of
its parts looked only whether every part occurs, not whether the parts stand in the order of the split.
"""

import torch
from torch._inductor.fx_passes import post_grad

KIND = "pass"
REACHED_BY = "plain"


def plant():
    original = post_grad.is_valid_splitwithsizes_cat
    aten = torch.ops.aten

    def is_valid_splitwithsizes_cat(match):
        splits = post_grad.filter_nodes(match.nodes, aten.split_with_sizes)
        cats = post_grad.filter_nodes(match.nodes, aten.cat)
        if len(splits) != 1 or len(cats) != 1:
            return False
        get_argument = post_grad.get_arg_value
        if get_argument(splits[0], 2, "dim") != get_argument(cats[0], 1, "dim"):
            return False
        parts = [get_argument(part, 1) for part in get_argument(cats[0], 0)]
        return sorted(parts) == list(range(len(get_argument(splits[0], 1, "split_sizes"))))

    for passes in post_grad.pass_patterns:
        for entries in passes.patterns.values():
            for entry in entries:
                if entry.extra_check is original:
                    entry.extra_check = is_valid_splitwithsizes_cat


def witness():
    def program(x):
        first, second = torch.split(x * 2, [2, 3], dim=1)
        return torch.cat([second, first], dim=1) + 1

    return program, [(torch.arange(10.0).reshape(2, 5),)]


plant()
