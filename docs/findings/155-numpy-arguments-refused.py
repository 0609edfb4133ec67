"""Arguments of NumPy's functions that cannot be compiled.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import numpy as np
import torch


def f(x):
    return torch.from_numpy(np.tril(x.numpy()))


x = torch.ones(3)
print("eager:   ", f(x))
try:
    compiled = torch.compile(f, backend="eager")(x)
except Exception as error:
    print("compiled:", error)
    raise SystemExit(1 if "must have at least 2 dimensions" in str(error) else 2) from None
print("compiled:", compiled)
raise SystemExit(not compiled.equal(f(x)))
