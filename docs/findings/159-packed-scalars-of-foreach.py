"""`_foreach_addcdiv_` with a tensor of scalars cannot be compiled, and some optimizers with it.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(x, scalars):
    y = x.clone()
    torch._foreach_addcdiv_([y], [x], [x], scalars)
    return y


args = torch.ones(3), torch.tensor([2.0])
print("eager:   ", f(*args))
try:
    compiled = torch.compile(f)(*args)
except Exception as error:
    reason = "Expected scalars to be on CPU, got meta instead"
    print("compiled:", type(error).__name__, reason if reason in str(error) else error)
    raise SystemExit(1 if reason in str(error) else 2) from None
print("compiled:", compiled)
raise SystemExit(not compiled.equal(f(*args)))
