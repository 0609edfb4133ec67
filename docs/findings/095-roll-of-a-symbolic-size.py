"""A tensor of symbolic size that is rolled twice and padded.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch
import torch.nn.functional as F


def f(x):
    return F.pad(x.roll(1, -1).roll(-1, -1), (1, 0))[..., 1:]


x = torch.randn(1, 5, 1, 5, 17).transpose(-2, -1)
print("eager:   ", f(x).shape)
try:
    print("compiled:", torch.compile(f, dynamic=True)(x).shape)
except Exception as error:
    print("compiled:", type(error).__name__, str(error).partition("\n")[0])
    raise SystemExit(1) from None
