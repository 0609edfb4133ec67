"""An exception of `bytes.decode` is an internal error of Dynamo.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(x):
    try:
        name = b"caf\xe9".decode("utf-8")
    except UnicodeDecodeError:
        name = b"caf\xe9".decode("latin-1")
    return name, x + 1


x = torch.ones(2)
print("eager:   ", f(x))
try:
    compiled = torch.compile(f, backend="eager")(x)
except Exception as error:
    print("compiled:", type(error).__name__, str(error).splitlines()[0])
    raise SystemExit(1 if "can't decode" in str(error) else 2) from None
print("compiled:", compiled)
raise SystemExit(compiled[0] != f(x)[0])
