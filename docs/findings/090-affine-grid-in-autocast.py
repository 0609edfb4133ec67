"""`F.affine_grid` under autocast is bfloat16 in eager and float32 compiled.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch
import torch.nn.functional as F


def f(theta):
    return F.affine_grid(theta, (2, 3, 4, 4), align_corners=False)


theta = torch.arange(12.0).reshape(2, 2, 3) / 3
with torch.autocast("cpu", torch.bfloat16):
    eager, compiled = f(theta), torch.compile(f)(theta)
print("eager:   ", eager.dtype, eager[0, 0, 0])
print("compiled:", compiled.dtype, compiled[0, 0, 0])
raise SystemExit(eager.dtype != compiled.dtype)
