"""`bucketize` and `searchsorted` round a Python number to float32.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(edges):
    return torch.bucketize(0.1, edges), torch.searchsorted(edges, 0.1)


edges = torch.tensor([0.1, 0.2, 0.3], dtype=torch.float64)
eager, compiled = f(edges), torch.compile(f)(edges)
print("eager:   ", eager)
print("compiled:", compiled)
raise SystemExit(compiled != eager)
