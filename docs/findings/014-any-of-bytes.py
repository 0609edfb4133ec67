"""`any` of uint8 is bool instead of uint8.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(x):
    return x.any(dim=1)


x = torch.tensor([[0, 3], [0, 0]], dtype=torch.uint8)
eager, compiled = f(x), torch.compile(f)(x)
print("eager:   ", eager)
print("compiled:", compiled)
raise SystemExit(compiled.dtype != eager.dtype)
