"""Two results that are one sum of float16 numbers are refused by the C++ compiler.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(x):
    return torch.stack([x.sum(1), x.sum(1).sin()])


args = (torch.ones(4, 17, 3, dtype=torch.float16),)


print("eager:   ", f(*args).shape)
try:
    print("compiled:", torch.compile(f)(*args).shape)
except Exception as error:
    print("compiled:", type(error).__name__, str(error).partition("\n")[0])
    raise SystemExit(1) from None
