"""`as_strided_scatter` into a view that does not begin its storage writes one element too far.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(x, values):
    return torch.as_strided_scatter(x[1:], values, (2, 2), (4, 1), storage_offset=2)


x, values = torch.arange(12.0), torch.full((2, 2), -1.0)
eager, compiled = f(x, values), torch.compile(f)(x, values)
print("eager:   ", eager)
print("compiled:", compiled)
raise SystemExit(not compiled.equal(eager))
