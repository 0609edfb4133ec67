"""NumPy's division of integers is computed in float32.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(x):
    return torch.from_numpy(x.numpy() / 3)


x = torch.tensor([1, 2, 1_000_000_007])
eager, compiled = f(x), torch.compile(f, backend="eager")(x)
print("eager:   ", eager)
print("compiled:", compiled)
raise SystemExit(compiled.dtype != eager.dtype)
