"""The gradient of replicating padding of a channels-last image fails an assertion.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(x):
    return torch.nn.functional.pad(x, (1, 1, 1, 1), "replicate").sum()


def gradient(f):
    x = torch.ones(1, 2, 3, 3).to(memory_format=torch.channels_last).requires_grad_()
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
raise SystemExit(not torch.equal(eager, compiled))
