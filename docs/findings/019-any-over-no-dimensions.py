"""`any` and `all` with `dim=()` reduce all dimensions.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(mask):
    return torch.any(mask, dim=()), torch.all(mask, dim=())


mask = torch.tensor([[True, False], [False, False]])
eager, compiled = f(mask), torch.compile(f)(mask)
print("eager:   ", eager)
print("compiled:", compiled)
raise SystemExit(any(a.shape != b.shape for a, b in zip(eager, compiled, strict=True)))
