"""`polygamma_` cannot be compiled.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(x):
    return (x + 1).polygamma_(1)


x = torch.ones(2)
print("eager:   ", f(x))
try:
    compiled = torch.compile(f, backend="aot_eager")(x)
except Exception as error:
    print("compiled:", str(error).splitlines()[1])
    raise SystemExit(1 if "polygamma_" in str(error) else 2) from None
print("compiled:", compiled)
raise SystemExit(not torch.allclose(f(x), compiled))
