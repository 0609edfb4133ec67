"""The gradient of 2-d average pooling does not compile if sizes are lists of one number.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(x):
    return torch.nn.functional.avg_pool2d(x, [2], padding=[1]).sum()


def gradient(f):
    x = torch.ones(1, 1, 4, 4, requires_grad=True)
    f(x).backward()
    return x.grad


eager = gradient(f)
print("eager:   ", eager.sum().item())
try:
    compiled = gradient(torch.compile(f))
except torch._inductor.exc.InductorError as error:
    print("compiled:", str(error).splitlines()[0])
    raise SystemExit(1) from None
print("compiled:", compiled.sum().item())
raise SystemExit(not torch.equal(eager, compiled))
