"""format(value, specification) ignores the specification.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(x):
    return x + 1, format("b", ">5"), format(2.5, ".3f"), format("abc", ".2")


x = torch.ones(2)
_, *eager = f(x)
_, *compiled = torch.compile(f)(x)
print("eager:   ", eager)
print("compiled:", compiled)
raise SystemExit(eager != compiled)
