"""A number scattered into a float64 constant is rounded to float32.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(index):
    return torch.full((1, 3), 0.1, dtype=torch.float64).scatter(1, index, 0.9)


index = torch.tensor([[1]])
torch.set_printoptions(precision=12)
eager, compiled = f(index), torch.compile(f)(index)
print("eager:   ", eager)
print("compiled:", compiled)
raise SystemExit(not compiled.equal(eager))
