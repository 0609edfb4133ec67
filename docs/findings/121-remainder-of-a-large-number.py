"""The remainder of a large float is the rounding error of a quotient.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch

x, y = torch.full((16,), 1e8), torch.full((16,), 3.0)
eager, compiled = torch.remainder(x, y), torch.compile(torch.remainder)(x, y)
print("eager:   ", eager[0].item())
print("compiled:", compiled[0].item())
raise SystemExit(not torch.equal(eager, compiled))
