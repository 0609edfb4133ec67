"""Rows are chosen by an index that depends on isnan and a comparison.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(x):
    position = torch.arange(5) * 0.5
    position = torch.where(position.isnan() & (position >= 1), 0.0, position)
    return x[position.long()]


x = torch.arange(5.0)
print("eager:   ", f(x))
try:
    print("compiled:", torch.compile(f)(x))
except Exception as error:
    print("compiled:", type(error).__name__, str(error).partition("\n")[0])
    raise SystemExit(1) from None
