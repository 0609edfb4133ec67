"""`F.rrelu` of a transposed tensor cannot be viewed.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch
import torch.nn.functional as F


def f(x):
    return F.rrelu(x).view(-1)


args = (torch.randn(3, 4).t(),)


print("eager:   ", f(*args).shape)
try:
    print("compiled:", torch.compile(f)(*args).shape)
except Exception as error:
    print("compiled:", type(error).__name__, str(error).partition("\n")[0])
    raise SystemExit(1) from None
