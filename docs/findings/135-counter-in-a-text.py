"""A `Counter` in `str.format` is written as an empty one.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import collections

import torch


def f(x):
    return x + 1, "{!r}".format(collections.Counter("aab"))


x = torch.ones(2)
_, eager = f(x)
_, compiled = torch.compile(f)(x)
print("eager:   ", eager)
print("compiled:", compiled)
raise SystemExit(eager != compiled)
