"""`args` and `keywords` of a partial of a partial lack those of the inner one.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import functools

import torch


def f(x):
    chosen = functools.partial(functools.partial(max, 1, key=abs), 4)
    return x + 1, chosen.args, sorted(chosen.keywords)


x = torch.ones(2)
_, *eager = f(x)
_, *compiled = torch.compile(f)(x)
print("eager:   ", eager)
print("compiled:", compiled)
raise SystemExit(eager != compiled)
