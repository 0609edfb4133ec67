"""`np.cbrt` of a negative number is NaN.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import numpy as np
import torch


def f(x):
    return torch.from_numpy(np.cbrt(x.numpy()))


x = torch.tensor([-8.0, 8.0], dtype=torch.float64)
eager, compiled = f(x), torch.compile(f, backend="eager")(x)
print("eager:   ", eager)
print("compiled:", compiled)
raise SystemExit(not compiled.equal(eager))
