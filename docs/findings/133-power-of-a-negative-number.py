"""A negative number to the power of a tensor is negated afterwards.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(x):
    return (-2) ** x


x = torch.tensor([2.0, 3.0])
eager = f(x)
compiled = torch.compile(f, backend="eager")(x)
print("eager:   ", eager)
print("compiled:", compiled)
raise SystemExit(not torch.equal(eager, compiled))
