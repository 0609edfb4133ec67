"""`as_strided` of a slice of a join reads another tensor.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(x):
    return torch.cat((x, x), -1)[:, :3].as_strided((2, 2), (6, 1))


x = torch.arange(12.0).reshape(4, 3)
eager, compiled = f(x), torch.compile(f)(x)
print("eager:   ", eager)
print("compiled:", compiled)
raise SystemExit(not torch.equal(eager, compiled))
