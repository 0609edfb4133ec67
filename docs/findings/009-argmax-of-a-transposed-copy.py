"""`argmax` of a transposed copy gives the place in memory.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(x):
    return x.t().contiguous().argmax()


x = torch.tensor([[1.0, 5.0, 2.0], [0.0, 3.0, 4.0]])
eager, compiled = f(x), torch.compile(f)(x)
print("eager:   ", eager)
print("compiled:", compiled)
raise SystemExit(not compiled.equal(eager))
