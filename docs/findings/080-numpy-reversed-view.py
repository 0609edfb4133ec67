"""What is written into a reversed view of an array is lost.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import numpy as np
import torch


def f(x):
    samples = x.numpy() * 2
    np.flip(samples)[0] = 9.0
    samples[::-1][1] = 8.0
    return torch.from_numpy(samples)


x = torch.tensor([1.0, 2.0, 3.0])
eager, compiled = f(x), torch.compile(f, backend="eager")(x)
print("eager:   ", eager)
print("compiled:", compiled)
raise SystemExit(not compiled.equal(eager))
