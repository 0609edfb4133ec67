"""What `out=` is written into takes the strides of the input.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(x):
    out = torch.empty(4, 3)
    torch.tan(x, out=out)
    return out.view(-1)


args = (torch.rand(3, 4).t(),)


print("eager:   ", f(*args).shape)
try:
    print("compiled:", torch.compile(f)(*args).shape)
except Exception as error:
    print("compiled:", type(error).__name__, str(error).partition("\n")[0])
    raise SystemExit(1) from None
