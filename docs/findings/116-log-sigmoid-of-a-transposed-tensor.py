"""`logsigmoid` of a transposed tensor has other strides.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch

x = torch.randn(2, 4, 3).transpose(1, 2)
f = torch.nn.functional.logsigmoid
eager, compiled = f(x), torch.compile(f)(x)
print("eager:   ", eager.stride())
print("compiled:", compiled.stride())
raise SystemExit(eager.stride() != compiled.stride())
