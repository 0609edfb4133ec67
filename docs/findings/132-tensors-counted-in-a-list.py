"""`count` of a list of tensors gives a tensor.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(x):
    return x + 1, [x[0], x[1]].count(1)


x = torch.ones(2)
_, eager = f(x)
_, compiled = torch.compile(f)(x)
print("eager:   ", repr(eager))
print("compiled:", repr(compiled))
raise SystemExit(type(eager) is not type(compiled))
