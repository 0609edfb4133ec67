"""A convolution that is returned beside a view of itself is laid out channels-last.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch
import torch.nn.functional as F


def f(x, weight):
    h = F.conv2d(x, weight)
    return h, h.unsqueeze(0)


args = torch.ones(2, 5, 5), torch.ones(5, 2, 1, 3, requires_grad=True)
eager, compiled = f(*args)[1], torch.compile(f)(*args)[1]
print("eager:   ", eager.shape, eager.stride())
print("compiled:", compiled.shape, compiled.stride())
raise SystemExit(eager.stride() != compiled.stride())
