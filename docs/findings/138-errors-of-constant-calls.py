"""Errors of calls of constants are internal errors of Dynamo.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(x):
    try:
        steps = list(range(0, 3, 0))
    except ValueError:
        steps = []
    return x + 1, steps


x = torch.ones(2)
print("eager:   ", f(x))
try:
    compiled = torch.compile(f)(x)
except Exception as error:
    print("compiled:", type(error).__name__, str(error).splitlines()[0])
    raise SystemExit(1 if "must not be zero" in str(error) else 2) from None
print("compiled:", compiled)
raise SystemExit(compiled[1] != f(x)[1])
