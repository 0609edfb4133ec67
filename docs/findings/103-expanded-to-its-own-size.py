"""Two views of one result no longer share memory.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(x):
    y = x.sin()
    return y.expand(3, 4), y.reshape(12)


def first_after_the_second_changed(function):
    first, second = function(torch.zeros(3, 4))
    second.add_(1)
    return first


eager = first_after_the_second_changed(f)
compiled = first_after_the_second_changed(torch.compile(f))
print("eager:   ", eager[0].tolist())
print("compiled:", compiled[0].tolist())
raise SystemExit(not torch.equal(eager, compiled))
