"""`np.fft` of float32 returns complex128.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import numpy as np
import torch


def f(x):
    return torch.from_numpy(np.fft.rfft(x.numpy()))


x = torch.ones(4)
eager, compiled = f(x), torch.compile(f, backend="eager")(x)
print("eager:   ", eager)
print("compiled:", compiled)
raise SystemExit(compiled.dtype != eager.dtype)
