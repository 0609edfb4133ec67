"""The sum of two complex tensors without elements does not compile.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(x, y):
    return x + y


x = torch.empty(0, 3, dtype=torch.complex64)
eager = f(x, x)
print("eager:   ", tuple(eager.shape))
try:
    compiled = torch.compile(f)(x, x)
except torch._inductor.exc.InductorError as error:
    print("compiled:", str(error).splitlines()[0])
    raise SystemExit(1) from None
print("compiled:", tuple(compiled.shape))
raise SystemExit(eager.shape != compiled.shape)
