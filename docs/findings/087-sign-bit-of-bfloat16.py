"""`torch.signbit` of bfloat16 is refused by the C++ compiler.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(x):
    return torch.signbit(x)


args = (torch.tensor([-1.0, -2.0, 3.0, 2.0, 1.0, 4.0, -3.0], dtype=torch.bfloat16),)


print("eager:   ", f(*args).shape)
try:
    print("compiled:", torch.compile(f)(*args).shape)
except Exception as error:
    print("compiled:", type(error).__name__, str(error).partition("\n")[0])
    raise SystemExit(1) from None
