"""`np.dot` of arrays with three axes is computed as `np.matmul`.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import numpy as np
import torch


def f(x):
    return torch.from_numpy(np.dot(x.numpy(), x.numpy()))


x = torch.arange(8.0).reshape(2, 2, 2)
eager, compiled = f(x), torch.compile(f, backend="eager")(x)
print("eager:   ", eager)
print("compiled:", compiled)
raise SystemExit(compiled.shape != eager.shape)
