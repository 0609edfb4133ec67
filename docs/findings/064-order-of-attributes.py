"""Attributes that are set in the compiled function come first in `vars`.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


class Options:
    def __init__(self):
        self.scale, self.shift = 2.0, 1.0


def f(x, options):
    options.shift = 3.0
    return list(vars(options)), x * options.scale + options.shift


x = torch.ones(2)
eager, compiled = f(x, Options()), torch.compile(f, backend="eager")(x, Options())
print("eager:   ", eager)
print("compiled:", compiled)
raise SystemExit(compiled[0] != eager[0])
