"""The sum of floats in int8 counts each number four times.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(x):
    return x.sum(dtype=torch.int8)


x = torch.arange(16.0) % 4
eager, compiled = f(x), torch.compile(f)(x)
print("eager:   ", eager)
print("compiled:", compiled)
raise SystemExit(not compiled.equal(eager))
