"""An `IndexError` of `x.shape[i]` passes its own `except IndexError`.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(x):
    try:
        channels = x.shape[2]
    except IndexError:
        channels = 1
    return x * channels


x = torch.ones(3, 2)
print("eager:   ", f(x))
try:
    compiled = torch.compile(f, backend="eager")(x)
except IndexError as error:
    print("compiled:", repr(error))
    raise SystemExit(1) from None
print("compiled:", compiled)
raise SystemExit(not compiled.equal(f(x)))
