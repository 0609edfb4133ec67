"""The gradient of an output that overlaps itself is wrong.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(x):
    return (x * 2).unfold(0, 4, 3)


def gradient(run):
    x = torch.linspace(-1, 1, 13, requires_grad=True)
    weights = torch.linspace(1, 2, 16).reshape(4, 4)
    return torch.autograd.grad((run(x) * weights).sum(), x)[0]


eager = gradient(f)
compiled = gradient(torch.compile(f, backend="aot_eager"))
print("eager:   ", eager)
print("compiled:", compiled)
raise SystemExit(not torch.allclose(compiled, eager))
