"""`F.bilinear` under autocast is rounded to bfloat16 in eager and not compiled.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch
import torch.nn.functional as F

x, y, weight = torch.tensor([[1.0, 3.001]]), torch.tensor([[1.0, 1.001]]), torch.ones(1, 2, 2)
with torch.autocast("cpu", torch.bfloat16):
    eager = F.bilinear(x, y, weight)
    compiled = torch.compile(F.bilinear)(x, y, weight)
print("eager:   ", eager)
print("compiled:", compiled)
raise SystemExit(not torch.allclose(eager, compiled, rtol=1e-5))
