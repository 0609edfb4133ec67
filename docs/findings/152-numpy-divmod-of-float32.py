"""`np.divmod` of float32 and a number returns float64.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import numpy as np
import torch


def f(x):
    return torch.from_numpy(np.divmod(x.numpy(), 2)[0])


x = torch.tensor([3.5, 5.0])
eager, compiled = f(x), torch.compile(f, backend="eager")(x)
print("eager:   ", eager)
print("compiled:", compiled)
raise SystemExit(compiled.dtype != eager.dtype)
