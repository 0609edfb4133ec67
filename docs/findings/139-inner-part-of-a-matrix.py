"""A matrix and its inner part are taken not to overlap.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(x, row):
    return x[1:, 1:].index_add(0, row, torch.ones(1, 2))


def argument_after(function):
    x = torch.zeros(3, 3)
    function(x, torch.tensor([0]))
    return x


right, wrong = argument_after(f), argument_after(torch.compile(f))
print("argument after eager:   ", right)
print("argument after compiled:", wrong)
raise SystemExit(not torch.equal(right, wrong))
