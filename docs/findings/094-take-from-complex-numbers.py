"""`take` of complex numbers at places in columns.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(z, index):
    return torch.angle(z.take(index) + 4)


args = torch.ones(4, 8, dtype=torch.complex64), torch.arange(32).reshape(8, 4).t()


print("eager:   ", f(*args).shape)
try:
    print("compiled:", torch.compile(f)(*args).shape)
except Exception as error:
    print("compiled:", type(error).__name__, str(error).partition("\n")[0])
    raise SystemExit(1) from None
