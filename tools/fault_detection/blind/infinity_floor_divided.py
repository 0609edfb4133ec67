"""Floor division of floats rounds the plain quotient, also where one operand is infinite.

Modelled on https://github.com/pytorch/pytorch/issues/188048: the lowering was ``floor(a / b)``, so that it kept an
infinite dividend where eager gives nan, and gave -0 where eager divides by an infinity of the other sign to -1.
"""

import torch
from torch._inductor import lowering

KIND = "lowering"
REACHED_BY = "rewrite"


def plant():
    lowering._floor_div_floating = lambda a, b: lowering.floor(lowering._div_rn(a, b))


def witness():
    def program(x, y):
        return torch.floor_divide(x, y)

    infinity = float("inf")
    return program, [(torch.tensor([infinity, -3.0, 7.0]), torch.tensor([2.0, infinity, 2.0]))]


plant()
