"""`cumsum_` and `cumprod_` of a transposed tensor cannot be viewed.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(x):
    h = x.t().clamp(-1, 1)
    h.cumsum_(-1)
    return h.t().view(-1)


args = (torch.rand(3, 4),)


print("eager:   ", f(*args).shape)
try:
    print("compiled:", torch.compile(f)(*args).shape)
except Exception as error:
    print("compiled:", type(error).__name__, str(error).partition("\n")[0])
    raise SystemExit(1) from None
