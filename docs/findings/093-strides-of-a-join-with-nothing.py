"""`torch.cat` with an empty tensor keeps the strides of the other.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(x, none):
    return torch.cat((x, none)).view(-1)


args = (torch.ones(3, 4).t(), torch.ones(0, 3))


print("eager:   ", f(*args).shape)
try:
    print("compiled:", torch.compile(f)(*args).shape)
except Exception as error:
    print("compiled:", type(error).__name__, str(error).partition("\n")[0])
    raise SystemExit(1) from None
