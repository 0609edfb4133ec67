"""`channel_shuffle` into groups of one channel gives the argument itself.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(x):
    return torch.channel_shuffle(x, 4)


def argument_after_a_write(function):
    x = torch.zeros(1, 4, 2)
    function(x).add_(1)
    return x


eager, compiled = argument_after_a_write(f), argument_after_a_write(torch.compile(f))
print("eager:   ", eager.tolist())
print("compiled:", compiled.tolist())
raise SystemExit(not eager.equal(compiled))
