"""`scatter` and `scatter_add` with `out=` cannot be traced with symbolic sizes.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import logging

import torch

logging.disable(logging.ERROR)  # a trace of C++ frames


def f(x, index):
    return torch.scatter_add(x, 0, index, x, out=torch.empty_like(x))


args = torch.ones(5), torch.zeros(5, dtype=torch.int64)
print("eager:   ", f(*args))
try:
    compiled = torch.compile(f, dynamic=True)(*args)
except Exception as error:
    print("compiled:", type(error).__name__, "symbolic sizes" if "with symbolic sizes" in str(error) else error)
    raise SystemExit(1 if "Cannot call numel() on tensor with symbolic sizes" in str(error) else 2) from None
print("compiled:", compiled)
raise SystemExit(not compiled.equal(f(*args)))
