"""`dict.get` and `dict.pop` take a key that has no hash for one that is not there.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(x):
    return x + 1, {1: 2}.get([1])


x = torch.ones(2)
try:
    f(x)
except TypeError as error:
    print("eager:   ", error)
try:
    _, compiled = torch.compile(f)(x)
except Exception as error:
    print("compiled:", error)
    raise SystemExit(0) from None
print("compiled:", compiled)
raise SystemExit(1)
