"""Arguments that overlap at a later call are taken for separate ones.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(x, y):
    y.mul_(2)
    return x + y


def windows():
    waves = torch.arange(6.0)
    return waves[:4], waves[2:]


compiled = torch.compile(f)
compiled(torch.ones(4), torch.ones(4))
right, wrong = f(*windows()), compiled(*windows())
print("eager:   ", right)
print("compiled:", wrong)
raise SystemExit(not torch.equal(right, wrong))
