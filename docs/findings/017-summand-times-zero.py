"""`addmm` with `beta=0` lets NaN of its first argument through.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(buffer, row, weights):
    return torch.addmm(buffer, row, weights, beta=0)


args = torch.full((1, 4), torch.nan), torch.ones(1, 3), torch.arange(12.0).reshape(3, 4)
eager, compiled = f(*args), torch.compile(f)(*args)
print("eager:   ", eager)
print("compiled:", compiled)
raise SystemExit(not compiled.equal(eager))
