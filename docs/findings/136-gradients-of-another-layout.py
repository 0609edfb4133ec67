"""A compiled step of an optimizer fails when a gradient has other strides than in the first step.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def trained(compiled):
    weight = torch.nn.Parameter(torch.zeros(3, 4))
    optimizer = torch.optim.SGD([weight], lr=0.1)
    step = torch.compile(optimizer.step) if compiled else optimizer.step
    for gradient in (torch.ones(4, 3).t() * 2, torch.ones(3, 4) * 2):
        weight.grad = gradient
        step()
    return weight.detach()


eager = trained(compiled=False)
print("eager:   ", eager)
try:
    compiled = trained(compiled=True)
except AssertionError as error:
    print("compiled:", error)
    raise SystemExit(1) from None
print("compiled:", compiled)
raise SystemExit(not torch.equal(eager, compiled))
