"""`logical_xor` of an expanded and a transposed tensor.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(x, y):
    return torch.logical_xor(x.expand(2, 5, 10), y.mT).mT.view(-1)


args = torch.rand(2, 5, 1), torch.rand(2, 10, 5)


print("eager:   ", f(*args).shape)
try:
    print("compiled:", torch.compile(f)(*args).shape)
except Exception as error:
    print("compiled:", type(error).__name__, str(error).partition("\n")[0])
    raise SystemExit(1) from None
