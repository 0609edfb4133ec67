"""The gradient of `hardsigmoid` in float64 is multiplied by a float32 sixth.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def gradient(run):
    x = torch.linspace(-2, 2, 8, dtype=torch.float64, requires_grad=True)
    return torch.autograd.grad(run(x).sum(), x)[0]


eager, compiled = gradient(torch.nn.functional.hardsigmoid), gradient(torch.compile(torch.nn.functional.hardsigmoid))
torch.set_printoptions(precision=17)
print("eager:   ", eager[0])
print("compiled:", compiled[0])
raise SystemExit(not torch.allclose(eager, compiled, rtol=1e-12, atol=0))
