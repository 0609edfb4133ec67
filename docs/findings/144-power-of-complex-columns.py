"""A number to the power of a transposed complex tensor fails when it runs.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(x):
    return 2**x


x = torch.ones(3, 2, dtype=torch.complex64).t()
right = f(x)
print("eager:   ", right)
try:
    compiled = torch.compile(f)(x)
except AssertionError as error:
    print("compiled:", str(error).splitlines()[0])
    raise SystemExit(1) from None
print("compiled:", compiled)
raise SystemExit(not torch.allclose(right, compiled))
