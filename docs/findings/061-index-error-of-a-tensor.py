"""An `IndexError` of a tensor operation passes its own `except IndexError`.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(x):
    try:
        return x.sum(dim=2)
    except IndexError:
        return x + 1


x = torch.ones(3)
print("eager:   ", f(x))
try:
    compiled = torch.compile(f, backend="eager")(x)
except IndexError as error:
    print("compiled:", repr(error))
    raise SystemExit(1) from None
print("compiled:", compiled)
raise SystemExit(not compiled.equal(f(x)))
