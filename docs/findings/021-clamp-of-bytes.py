"""`clamp` of uint8 with a negative minimum gives the maximum everywhere.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(x):
    return torch.clamp(x, -1, 100)


x = torch.tensor([1, 50, 200], dtype=torch.uint8)
eager, compiled = f(x), torch.compile(f)(x)
print("eager:   ", eager)
print("compiled:", compiled)
raise SystemExit(not compiled.equal(eager))
