"""The smaller of two values that may both be zero decides the side of a pole."""

# /// defect
# cause = "The C++ code of minimum takes its second operand where the two are equal, whatever the sign of zero"
# url = "https://github.com/pytorch/pytorch/issues/194347"
# torch = ">=2.13"
# kinds = ["wrong-result"]
# regex = ''
# ///

import torch


def program(left, right):
    lower = torch.minimum(left, right)
    return lower, torch.where(lower == 0, torch.ones_like(lower) / lower, lower)


def inputs(rng):
    yield torch.tensor([-0.0, 0.0, 1.0, -2.0, -0.0]), torch.tensor([0.0, -0.0, -1.0, 3.0, -0.0])
