"""`torch.view_copy` keeps strides that eager does not.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(x):
    return torch.view_copy(x, (5, 17, 5)).view(-1)


args = (torch.randn(1, 5, 1, 5, 17).transpose(-2, -1),)


print("eager:   ", f(*args).shape)
try:
    print("compiled:", torch.compile(f)(*args).shape)
except Exception as error:
    print("compiled:", type(error).__name__, str(error).partition("\n")[0])
    raise SystemExit(1) from None
