"""The gradient of 3-d max pooling is wrong where the image is one column wide.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch
import torch.nn.functional as F


def f(x):
    return F.max_pool3d(x, 5, stride=1, padding=2)


x = torch.arange(96.0).reshape(1, 4, 6, 4, 1).requires_grad_()
(eager,) = torch.autograd.grad(f(x).sum(), x)
(compiled,) = torch.autograd.grad(torch.compile(f)(x).sum(), x)
print("eager:   ", eager.flatten()[-8:])
print("compiled:", compiled.flatten()[-8:])
raise SystemExit(not torch.equal(eager, compiled))
