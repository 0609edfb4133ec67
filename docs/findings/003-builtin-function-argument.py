"""A function of torch's own cannot be differentiated by name.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(x):
    return torch.autograd.functional.vjp(torch.sin, x, torch.ones_like(x))[1]


x = torch.linspace(-1, 1, 5)
print("eager:   ", f(x))
try:
    compiled = torch.compile(f, backend="eager")(x)
except Exception as error:
    print("compiled:", error)
    raise SystemExit(1 if "builtin_function_or_method" in str(error) else 2) from None
print("compiled:", compiled)
raise SystemExit(not torch.allclose(compiled, f(x)))
