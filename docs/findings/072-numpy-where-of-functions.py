"""NumPy functions of one argument ignore `where=`.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import numpy as np
import torch


def f(x):
    return torch.from_numpy(np.log(x.numpy(), out=np.zeros(3, np.float32), where=x.numpy() > 0))


x = torch.tensor([0.0, 1.0, 2.0])
eager, compiled = f(x), torch.compile(f, backend="eager")(x)
print("eager:   ", eager)
print("compiled:", compiled)
raise SystemExit(not compiled.allclose(eager))
