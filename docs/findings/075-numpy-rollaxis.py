"""`np.rollaxis` takes the order of the axes for a shape.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import numpy as np
import torch


def f(x):
    return torch.from_numpy(np.rollaxis(x.numpy(), 2))


x = torch.arange(24.0).reshape(2, 3, 4)
print("eager:   ", f(x).shape)
try:
    compiled = torch.compile(f, backend="eager")(x)
except Exception as error:
    print("compiled:", error)
    raise SystemExit(1 if "is invalid for input of size 24" in str(error) else 2) from None
print("compiled:", compiled.shape)
raise SystemExit(not compiled.equal(f(x)))
