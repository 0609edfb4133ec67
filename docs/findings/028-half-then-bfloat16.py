"""A cast to half that is followed by one to bfloat16 is left out.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(x):
    return x.half().bfloat16(), x.bfloat16().half()


x = torch.tensor([70000.0, 1.0009765625])
eager, compiled = f(x), torch.compile(f)(x)
print("eager:   ", eager)
print("compiled:", compiled)
raise SystemExit(not all(a.equal(b) for a, b in zip(eager, compiled, strict=True)))
