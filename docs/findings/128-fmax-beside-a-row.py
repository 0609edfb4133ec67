"""`fmax` and `fmin` of a transposed tensor and a row have other strides.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch

x, y = torch.ones(4, 3, 2).permute(2, 1, 0), torch.ones(3, 4)
eager, compiled = torch.fmax(x, y), torch.compile(torch.fmax)(x, y)
print("eager:   ", eager.stride())
print("compiled:", compiled.stride())
raise SystemExit(eager.stride() != compiled.stride())
