"""Arguments that Python refuses are accepted.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

from collections import OrderedDict

import torch


def f(x):
    return x + 1, OrderedDict(a=1, b=2).popitem(start=2)


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
