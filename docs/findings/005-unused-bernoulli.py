"""A draw of `bernoulli` that nothing uses is left out, so that the next draw gives other numbers.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch
import torch._inductor.config

torch._inductor.config.fallback_random = True  # compiled programs draw the numbers that eager draws


def f(x):
    torch.empty(3).bernoulli_(0.5)
    return x + torch.rand(x.shape)


def drawn(run):
    torch.manual_seed(0)
    return run(torch.zeros(5))


eager, compiled = drawn(f), drawn(torch.compile(f))
print("eager:   ", eager)
print("compiled:", compiled)
raise SystemExit(not compiled.equal(eager))
