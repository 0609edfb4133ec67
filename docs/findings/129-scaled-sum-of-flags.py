"""A scaled sum of bools is stored as 64-bit integers beyond its buffer.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(x, y):
    x.add_(y, alpha=2)


def run(f):
    buffer = torch.ones(32, dtype=torch.bool)
    f(buffer[:4], torch.ones(4, dtype=torch.bool))
    return buffer


eager, compiled = run(f), run(torch.compile(f))
print("eager:   ", eager.int().tolist())
print("compiled:", compiled.int().tolist())
raise SystemExit(not torch.equal(eager, compiled))
