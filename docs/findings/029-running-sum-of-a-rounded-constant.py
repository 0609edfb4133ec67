"""The running sum of a constant in bfloat16 uses the number before rounding.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(offset):
    steps = torch.full((4,), 0.1, dtype=torch.bfloat16)
    return steps.cumsum(0, dtype=torch.float32) + offset


offset = torch.tensor(0.0)
torch.set_printoptions(precision=9)
eager, compiled = f(offset), torch.compile(f)(offset)
print("eager:   ", eager)
print("compiled:", compiled)
raise SystemExit(not torch.allclose(compiled.float(), eager, rtol=1e-5))
