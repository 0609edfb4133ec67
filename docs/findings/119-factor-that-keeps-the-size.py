"""`interpolate` by a factor that keeps the size resamples.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(x):
    return torch.nn.functional.interpolate(x, scale_factor=1.3, mode="linear", align_corners=False)


x = torch.tensor([[[1.0, 2.0]]])
eager, compiled = f(x), torch.compile(f)(x)
print("eager:   ", eager.tolist())
print("compiled:", compiled.tolist())
raise SystemExit(not torch.equal(eager, compiled))
