"""Two equal calls of an operator with several results share them, where a gradient is recorded.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(x):
    return x.sort().values, x.sort().values


def second_after_a_write(function):
    first, second = function(torch.ones(2, 2, requires_grad=True))
    first.detach().zero_()
    return second


right, wrong = second_after_a_write(f), second_after_a_write(torch.compile(f))
print("eager:   ", right)
print("compiled:", wrong)
raise SystemExit(not torch.equal(right, wrong))
