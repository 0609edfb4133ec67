"""`np.average` with weights drops imaginary parts.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import numpy as np
import torch


def f(x):
    return torch.from_numpy(np.average(x.numpy(), axis=1, weights=np.array([1.0, 3.0])))


x = torch.tensor([[1 + 1j, 2j]])
eager, compiled = f(x), torch.compile(f, backend="eager")(x)
print("eager:   ", eager)
print("compiled:", compiled)
raise SystemExit(not (compiled.is_complex() and compiled.allclose(eager)))
