"""`np.modf` splits negative numbers at the next lower integer.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import numpy as np
import torch


def f(x):
    return np.modf(x.numpy())


x = torch.tensor([-1.75, 1.75])
eager, compiled = f(x), torch.compile(f, backend="eager")(x)
print("eager:   ", eager)
print("compiled:", compiled)
raise SystemExit(not np.array_equal(compiled, eager))
