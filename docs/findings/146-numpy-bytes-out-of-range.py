"""Arrays of bytes are compared with a number modulo 256.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(x):
    return torch.from_numpy(x.numpy() > -1)


x = torch.tensor([1, 2, 3], dtype=torch.uint8)
eager, compiled = f(x), torch.compile(f, backend="eager")(x)
print("eager:   ", eager)
print("compiled:", compiled)
raise SystemExit(not compiled.equal(eager))
