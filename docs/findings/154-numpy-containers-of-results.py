"""Lists, tuples and named tuples of NumPy change their type.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import numpy as np
import torch


def f(x):
    return isinstance(np.split(x.numpy(), 2), list)


x = torch.ones(4)
eager, compiled = f(x), torch.compile(f, backend="eager")(x)
print("eager:   ", eager)
print("compiled:", compiled)
raise SystemExit(compiled != eager)
