"""`x + 0` gives the argument itself instead of a new tensor.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(x):
    return x + torch.zeros_like(x)


x = torch.ones(3)
eager, compiled = f(x) is x, torch.compile(f)(x) is x
print("eager:   ", "the argument" if eager else "a new tensor")
print("compiled:", "the argument" if compiled else "a new tensor")
raise SystemExit(compiled != eager)
