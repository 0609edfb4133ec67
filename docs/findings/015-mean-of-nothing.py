"""The mean that `var_mean` and `std_mean` give of no elements is 0 instead of NaN.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(x):
    return torch.var_mean(x)


x = torch.empty(0)
eager, compiled = f(x), torch.compile(f)(x)
print("eager:   ", *eager)
print("compiled:", *compiled)
raise SystemExit(not torch.equal(compiled[1].isnan(), eager[1].isnan()))
