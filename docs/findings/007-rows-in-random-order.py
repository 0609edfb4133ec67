"""`x[torch.randperm(n)]` with a gradient breaks one of Inductor's patterns.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(x):
    return x[torch.randperm(x.shape[0])].tanh()


def gradient(run):
    x = torch.ones(4, 6, requires_grad=True)
    return torch.autograd.grad(run(x).sum(), x)[0]


print("eager:   ", gradient(f))
try:
    compiled = gradient(torch.compile(f))
except Exception as error:
    print("compiled:", error)
    raise SystemExit(1 if "inputs to pattern" in str(error) else 2) from None
print("compiled:", compiled)
raise SystemExit(not torch.allclose(compiled, gradient(f)))
