"""`grid_sample` at NaN is not the sample at -1.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(image, grid):
    return torch.nn.functional.grid_sample(image, grid, padding_mode="border", align_corners=True)


image = torch.arange(1.0, 10.0).reshape(1, 1, 3, 3)
grid = torch.tensor([[[[torch.nan, torch.nan], [0.0, 0.0]]]])
eager, compiled = f(image, grid), torch.compile(f)(image, grid)
print("eager:   ", eager)
print("compiled:", compiled)
raise SystemExit(not compiled.equal(eager))
