"""`np.linspace` of integers rounds negative numbers up.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import numpy as np
import torch


def f(x):
    return torch.from_numpy(np.linspace(-2, 2, 6, dtype=np.int64)) + x


x = torch.zeros(6, dtype=torch.int64)
eager, compiled = f(x), torch.compile(f, backend="eager")(x)
print("eager:   ", eager)
print("compiled:", compiled)
raise SystemExit(not compiled.equal(eager))
