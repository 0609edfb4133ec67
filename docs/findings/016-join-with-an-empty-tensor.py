"""`torch.cat` forgets the dtype of an empty tensor.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(counts, more, none):
    return torch.cat([counts, more, none])


args = torch.tensor([1, 2]), torch.tensor([3]), torch.empty(0)
eager, compiled = f(*args), torch.compile(f)(*args)
print("eager:   ", eager)
print("compiled:", compiled)
raise SystemExit(compiled.dtype != eager.dtype)
