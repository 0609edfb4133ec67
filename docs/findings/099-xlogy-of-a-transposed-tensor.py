"""`xlogy` takes the strides of its second operand.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(x, y):
    return torch.xlogy(x.t(), y).t().view(-1)


args = torch.rand(3, 4), torch.rand(4, 3)


print("eager:   ", f(*args).shape)
try:
    print("compiled:", torch.compile(f)(*args).shape)
except Exception as error:
    print("compiled:", type(error).__name__, str(error).partition("\n")[0])
    raise SystemExit(1) from None
