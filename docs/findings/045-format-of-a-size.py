"""An f-string formats a symbolic size as if it were a string.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(x):
    return x + 1, f"{x.shape[0] / 3:.3}"


run = torch.compile(f, backend="eager")
for size in (3, 4):
    x = torch.ones(size)
    eager, compiled = f(x)[1], run(x)[1]
    print("eager:   ", repr(eager))
    print("compiled:", repr(compiled))
    if compiled != eager:
        raise SystemExit(1)
