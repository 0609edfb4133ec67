"""`np.triu_indices` and its kin select whole rows.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import numpy as np
import torch


def f(x):
    return torch.from_numpy(x.numpy()[np.triu_indices(3, 1)])


x = torch.arange(9.0).reshape(3, 3)
eager, compiled = f(x), torch.compile(f, backend="eager")(x)
print("eager:   ", eager)
print("compiled:", compiled)
raise SystemExit(compiled.shape != eager.shape)
