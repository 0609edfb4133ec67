"""`np.squeeze` of several axes removes the last one only.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import numpy as np
import torch


def f(x):
    return torch.from_numpy(np.squeeze(x.numpy(), axis=(0, 2)))


x = torch.ones(1, 3, 1)
eager, compiled = f(x), torch.compile(f, backend="eager")(x)
print("eager:   ", eager)
print("compiled:", compiled)
raise SystemExit(compiled.shape != eager.shape)
