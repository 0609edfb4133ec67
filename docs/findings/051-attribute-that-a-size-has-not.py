"""No AttributeError is raised for an attribute that a symbolic size has not.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(x):
    length = x.shape[0]
    try:
        length = length.shape
    except AttributeError:
        return x + 1, "a number"
    return x + 1, "a tensor"


run = torch.compile(f, backend="eager")
for size in (3, 4):
    x = torch.ones(size)
    eager, compiled = f(x)[1], run(x)[1]
    print("eager:   ", repr(eager))
    print("compiled:", repr(compiled))
    if compiled != eager:
        raise SystemExit(1)
