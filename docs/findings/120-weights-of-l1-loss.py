"""`l1_loss` forgets its weights.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(x, y, weight):
    return torch.nn.functional.l1_loss(x, y, reduction="sum", weight=weight)


x, y, weight = torch.ones(3), torch.zeros(3), torch.tensor([1.0, 10.0, 100.0])
eager, compiled = f(x, y, weight), torch.compile(f)(x, y, weight)
print("eager:   ", eager.item())
print("compiled:", compiled.item())
raise SystemExit(not torch.equal(eager, compiled))
