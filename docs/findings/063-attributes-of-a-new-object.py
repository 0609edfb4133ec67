"""`vars` of an object that is made in the compiled function is returned empty.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


class Options:
    def __init__(self, scale):
        self.scale = scale


def f(x):
    options = Options(2)
    return vars(options), x * options.scale


x = torch.ones(2)
eager, compiled = f(x), torch.compile(f, backend="eager")(x)
print("eager:   ", eager)
print("compiled:", compiled)
raise SystemExit(compiled[0] != eager[0])
