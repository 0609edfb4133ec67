"""The gradient of `smooth_l1_loss` at NaN is 0.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def gradient(run):
    x = torch.tensor([0.25, torch.nan, 3.0], requires_grad=True)
    return torch.autograd.grad(run(x, torch.zeros(3)), x)[0]


def f(x, y):
    return torch.nn.functional.smooth_l1_loss(x, y)


eager, compiled = gradient(f), gradient(torch.compile(f))
print("eager:   ", eager)
print("compiled:", compiled)
raise SystemExit(bool((compiled.isnan() != eager.isnan()).any()))
