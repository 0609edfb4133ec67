"""The weighted mean of ``nll_loss`` also divides by a weight for each ignored target.

Modelled on https://github.com/pytorch/pytorch/pull/95833: the decomposition replaced ignored targets by class 0 to
gather safely, and must then leave them out of the loss and of the sum of the weights.
"""

import torch
from torch._decomp import decompositions

KIND = "decomposition"
REACHED_BY = "plain"
MEAN = 1


def plant():
    original = decompositions._nll_loss_forward

    def _nll_loss_forward(self, target, weight, reduction, ignore_index):
        result, total_weight = original(self, target, weight, reduction, ignore_index)
        if weight is not None and reduction == MEAN:
            safe_target = torch.where(target != ignore_index, target, 0)
            whole_weight = weight[safe_target].sum()
            result, total_weight = result * total_weight / whole_weight, whole_weight
        return result, total_weight

    decompositions._nll_loss_forward = _nll_loss_forward


def witness():
    def program(scores, target, weight):
        return torch.nn.functional.cross_entropy(scores, target, weight=weight)

    torch.manual_seed(0)
    return program, [(torch.randn(4, 3), torch.tensor([2, -100, 1, 0]), torch.tensor([0.5, 1.0, 2.0]))]


plant()
