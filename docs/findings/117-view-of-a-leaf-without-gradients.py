"""A view of an argument taken under `no_grad` passes gradients on.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(x):
    with torch.no_grad():
        rest = x[1:]
    return x * 2, rest


def gradient(f):
    x = torch.arange(4.0, requires_grad=True)
    doubled, rest = f(x)
    (doubled.sum() + (rest**2).sum()).backward()
    return x.grad.tolist()


eager, compiled = gradient(f), gradient(torch.compile(f))
print("eager:   ", eager)
print("compiled:", compiled)
raise SystemExit(eager != compiled)
