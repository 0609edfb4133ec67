"""Uniform draws into a slice fail an assertion under `fallback_random`.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch
import torch._inductor.config

torch._inductor.config.fallback_random = True


def f(x):
    torch.manual_seed(0)
    x[:, :2].uniform_(0, 1)
    return x


eager = f(torch.zeros(2, 3))
print("eager:   ", eager.tolist())
try:
    compiled = torch.compile(f)(torch.zeros(2, 3))
except AssertionError as error:
    print("compiled:", str(error).splitlines()[0])
    raise SystemExit(1) from None
print("compiled:", compiled.tolist())
raise SystemExit(not torch.equal(eager, compiled))
