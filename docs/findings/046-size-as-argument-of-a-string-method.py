"""A symbolic size cannot be an argument of a string's method.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(x):
    return x + 1, "mean".center(x.shape[0] + 4, "-")


run = torch.compile(f, backend="eager")
for size in (3, 4):
    x = torch.ones(size)
    print("eager:   ", repr(f(x)[1]))
    try:
        compiled = run(x)[1]
    except Exception as error:
        print("compiled:", error)
        raise SystemExit(1 if "object has no attribute 'node'" in str(error) else 2) from None
    print("compiled:", repr(compiled))
    if compiled != f(x)[1]:
        raise SystemExit(1)
