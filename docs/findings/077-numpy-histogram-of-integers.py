"""`np.histogram` of integers has integers as edges of its bins.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import numpy as np
import torch


def f(x):
    return torch.from_numpy(np.histogram(x.numpy(), bins=4)[1])


x = torch.tensor([0, 1, 2, 3])
eager, compiled = f(x), torch.compile(f, backend="eager")(x)
print("eager:   ", eager)
print("compiled:", compiled)
raise SystemExit(not compiled.double().equal(eager))
