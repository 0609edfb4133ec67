"""Integer arrays divided by zero raise.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import numpy as np
import torch


def f(x):
    return torch.from_numpy(x.numpy() % np.array([2, 0]))


x = torch.tensor([3, 5])
print("eager:   ", f(x))
try:
    compiled = torch.compile(f, backend="eager")(x)
except Exception as error:
    print("compiled:", error)
    raise SystemExit(1 if "ZeroDivisionError" in str(error) else 2) from None
print("compiled:", compiled)
raise SystemExit(not compiled.equal(f(x)))
