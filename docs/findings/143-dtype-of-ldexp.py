"""`torch.ldexp` ignores the dtype of its exponent.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(x, exponent):
    return torch.ldexp(x, exponent)


arguments = torch.tensor([1.0, 2.0]), torch.tensor([0.3, 0.5], dtype=torch.float64)
right, wrong = f(*arguments), torch.compile(f)(*arguments)
print("eager:   ", right)
print("compiled:", wrong)
raise SystemExit(right.dtype != wrong.dtype)
