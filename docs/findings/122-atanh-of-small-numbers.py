"""`atanh` of small numbers loses its digits.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch

x = torch.tensor([1e-3, 1e-5, 1e-7, 1e-9]).repeat(4)
eager, compiled = torch.atanh(x), torch.compile(torch.atanh)(x)
print("eager:   ", eager[:4].tolist())
print("compiled:", compiled[:4].tolist())
raise SystemExit(not torch.allclose(eager, compiled, rtol=1e-4, atol=0))
