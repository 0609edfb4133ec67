"""The gradient of `soft_margin_loss` loses its digits where the margin is large.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(x, target):
    return torch.nn.functional.soft_margin_loss(x, target, reduction="sum")


def gradient(run, dtype):
    x = torch.tensor([1.0, 8.0, 16.0, 30.0], dtype=dtype, requires_grad=True)
    return torch.autograd.grad(run(x, torch.ones_like(x)), x)[0]


exact, eager = gradient(f, torch.float64), gradient(f, torch.float32)
compiled = gradient(torch.compile(f), torch.float32)
print("float64: ", exact)
print("eager:   ", eager)
print("compiled:", compiled)
off = ((torch.stack([eager, compiled]) - exact) / exact).abs().amax(dim=1)
print("relative errors of eager and compiled:", off)
raise SystemExit(bool(off[1] > 1e-3 > off[0]))
