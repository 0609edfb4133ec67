"""`np.median`, `np.quantile` and `np.percentile` have one axis too many.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import numpy as np
import torch


def f(x):
    return torch.as_tensor(np.median(x.numpy()))


x = torch.tensor([3.0, 1.0, 2.0])
eager, compiled = f(x), torch.compile(f, backend="eager")(x)
print("eager:   ", eager)
print("compiled:", compiled)
raise SystemExit(compiled.shape != eager.shape)
