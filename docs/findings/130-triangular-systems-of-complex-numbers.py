"""The gradient of `lu_factor` and `solve_triangular` of complex matrices fails an assertion.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(x):
    return torch.linalg.lu_factor(x)[0].abs().sum()


def gradient(f):
    x = (torch.eye(3, dtype=torch.complex64) * 2 + 1j).requires_grad_()
    f(x).backward()
    return x.grad


eager = gradient(f)
print("eager:   ", eager.sum().item())
try:
    compiled = gradient(torch.compile(f))
except AssertionError as error:
    print("compiled:", str(error).splitlines()[0])
    raise SystemExit(1) from None
print("compiled:", compiled.sum().item())
raise SystemExit(not torch.allclose(eager, compiled))
