"""`F.batch_norm` of a permuted tensor cannot be viewed.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch
import torch.nn.functional as F


def f(x):
    return F.batch_norm(x, None, None, training=True).view(-1)


args = (torch.rand(6, 6, 3, 2).permute(3, 2, 1, 0),)


print("eager:   ", f(*args).shape)
try:
    print("compiled:", torch.compile(f)(*args).shape)
except Exception as error:
    print("compiled:", type(error).__name__, str(error).partition("\n")[0])
    raise SystemExit(1) from None
