"""A leaf argument that is changed in place by something that requires gradients does not require any afterwards.

Modelled on https://github.com/pytorch/pytorch/pull/113584: mutations of arguments that require gradients were kept in
the graph, where autograd does not see them.
"""

import torch
import torch._functorch.aot_autograd  # alone, the next import is circular
from torch._functorch._aot_autograd import collect_metadata_analysis

KIND = "aot-mutation"
REACHED_BY = "plain"


def plant():
    original = collect_metadata_analysis.InputAliasInfo

    def input_alias_info(*, is_leaf, mutates_data, requires_grad, **rest):
        if is_leaf and mutates_data:
            requires_grad = False
        return original(is_leaf=is_leaf, mutates_data=mutates_data, requires_grad=requires_grad, **rest)

    collect_metadata_analysis.InputAliasInfo = input_alias_info


def witness():
    def program(state, weight):
        state.add_(weight * 2)
        return weight * 3

    return program, [(torch.arange(4.0), torch.full((4,), 2.0).requires_grad_())]


plant()
