"""NumPy functions that make float32, torch's own default.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import numpy as np
import torch


def f(x):
    return torch.from_numpy(np.tri(2) * x.numpy())


x = torch.ones(2, 2)
eager, compiled = f(x), torch.compile(f, backend="eager")(x)
print("eager:   ", eager)
print("compiled:", compiled)
raise SystemExit(compiled.dtype != eager.dtype)
