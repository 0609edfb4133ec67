"""NumPy's functions of one integer array have another dtype.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import numpy as np
import torch


def f(x):
    return torch.from_numpy(np.exp(x.numpy()))


x = torch.tensor([1, 2, 3], dtype=torch.uint8)
eager, compiled = f(x), torch.compile(f, backend="eager")(x)
print("eager:   ", eager)
print("compiled:", compiled)
raise SystemExit(compiled.dtype != eager.dtype)
