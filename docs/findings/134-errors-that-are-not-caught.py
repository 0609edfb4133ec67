"""Errors of some of Python's functions cannot be caught.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(x):
    y = x + 1
    try:
        return y, b"\xe9t\xe9".decode("utf-8")
    except UnicodeDecodeError:
        return y, b"\xe9t\xe9".decode("latin-1")


x = torch.ones(2)
_, eager = f(x)
print("eager:   ", eager)
try:
    _, compiled = torch.compile(f)(x)
except Exception as error:
    print("compiled:", type(error).__name__, str(error).splitlines()[0])
    raise SystemExit(1) from None
print("compiled:", compiled)
raise SystemExit(eager != compiled)
