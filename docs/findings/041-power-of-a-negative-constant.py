"""A negative constant to a power is printed without parentheses.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(x):
    return (-2.0) ** x


x = torch.arange(4.0)
eager, compiled = f(x), torch.compile(f, backend="eager")(x)
print("eager:   ", eager)
print("compiled:", compiled)
raise SystemExit(not torch.equal(compiled, eager))
