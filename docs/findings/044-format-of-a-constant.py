"""`format(value, spec)` ignores the format.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(x):
    return x + 1, format(0.123456, ".2f")


x = torch.ones(3)
eager, compiled = f(x)[1], torch.compile(f, backend="eager")(x)[1]
print("eager:   ", repr(eager))
print("compiled:", repr(compiled))
raise SystemExit(compiled != eager)
