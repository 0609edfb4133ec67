"""`np.split` at places that are an array cannot be traced.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import numpy as np
import torch


def f(rows):
    return np.split(rows, np.array([1, 2]))


rows = np.arange(12).reshape(3, 4)
print("eager:   ", [part.shape for part in f(rows)])
try:
    print("compiled:", [part.shape for part in torch.compile(f)(rows)])
except Exception as error:
    print("compiled:", type(error).__name__, str(error).partition("\n")[0])
    raise SystemExit(1) from None
