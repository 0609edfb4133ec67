"""`x * (-1) ** x.shape[0]` fails to compile at a second size.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(x):
    return x * (-1) ** x.shape[0]


run = torch.compile(f)
for size in (3, 4):
    x = torch.ones(size)
    print("eager:   ", f(x))
    try:
        compiled = run(x)
    except Exception as error:
        print("compiled:", error)
        raise SystemExit(1 if "RecursionError" in str(error) else 2) from None
    print("compiled:", compiled)
    if not torch.equal(compiled, f(x)):
        raise SystemExit(1)
