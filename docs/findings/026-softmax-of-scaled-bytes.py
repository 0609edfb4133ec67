"""The softmax of scaled 8-bit integers is wrong.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(x):
    return torch.softmax(x / 100, dim=0)


x = torch.tensor([0, 10, 200], dtype=torch.uint8)
eager, compiled = f(x), torch.compile(f)(x)
print("eager:   ", eager)
print("compiled:", compiled)
raise SystemExit(not torch.allclose(compiled, eager))
