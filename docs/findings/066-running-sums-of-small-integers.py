"""`np.cumsum` and `np.cumprod` of small integers overflow.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import numpy as np
import torch


def f(x):
    return torch.from_numpy(np.cumsum(x.numpy()))


x = torch.tensor([100, 100, 100], dtype=torch.int8)
eager, compiled = f(x), torch.compile(f, backend="eager")(x)
print("eager:   ", eager)
print("compiled:", compiled)
raise SystemExit(not compiled.equal(eager))
