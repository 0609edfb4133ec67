"""Linear interpolation between two equal infinities is NaN.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(bias):
    return torch.nn.functional.interpolate(bias, scale_factor=2, mode="linear")


bias = torch.tensor([[[-torch.inf, -torch.inf, -torch.inf, -torch.inf]]])
eager, compiled = f(bias), torch.compile(f)(bias)
print("eager:   ", eager)
print("compiled:", compiled)
raise SystemExit(bool((compiled.isnan() & ~eager.isnan()).any()))
