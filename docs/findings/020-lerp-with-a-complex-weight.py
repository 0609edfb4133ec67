"""`lerp` with a complex weight fails to compile.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(start, end):
    return torch.lerp(start, end, 0.25 + 0.5j)


start, end = torch.tensor([1 + 1j, 2 - 1j]), torch.tensor([3 + 0j, 1j])
print("eager:   ", f(start, end))
try:
    print("compiled:", torch.compile(f)(start, end))
except Exception as error:
    print("compiled:", str(error).splitlines()[1])
    raise SystemExit("'>=' not supported" in str(error)) from None
