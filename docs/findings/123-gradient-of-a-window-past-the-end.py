"""The gradient of average pooling is too small where a window reaches past the end.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(x):
    return torch.nn.functional.avg_pool1d(x, 2, ceil_mode=True)


x = torch.ones(1, 1, 5, requires_grad=True)
(eager,) = torch.autograd.grad(f(x).sum(), x)
(compiled,) = torch.autograd.grad(torch.compile(f)(x).sum(), x)
print("eager:   ", eager.flatten().tolist())
print("compiled:", compiled.flatten().tolist())
raise SystemExit(not torch.equal(eager, compiled))
