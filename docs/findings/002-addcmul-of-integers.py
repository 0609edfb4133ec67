"""`addcmul_` of integers with `value=1` gives floats.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(total, a, b):
    return total.clone().addcmul_(a, b, value=1)


x = torch.arange(4) + 2**25
eager = f(x, x, torch.ones_like(x))
compiled = torch.compile(f)(x, x, torch.ones_like(x))
print("eager:   ", eager)
print("compiled:", compiled)
raise SystemExit(compiled.dtype != eager.dtype or not compiled.equal(eager))
