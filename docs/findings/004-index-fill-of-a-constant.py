"""`index_fill` of a constant writes into a join that holds the constant too.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(x, rows):
    zeros = torch.zeros_like(x)
    filled = zeros.index_fill(0, rows, 1)
    return torch.cat([zeros, x]), filled


x, rows = torch.full((3, 2), 5.0), torch.tensor([1])
eager, _ = f(x, rows)
compiled, _ = torch.compile(f)(x, rows)
print("eager:   ", eager)
print("compiled:", compiled)
raise SystemExit(not compiled.equal(eager))
