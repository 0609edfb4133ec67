"""NumPy code cannot be compiled under autocast.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(x):
    samples = x.numpy()
    return torch.from_numpy(samples.T @ samples / samples.shape[0])


x = torch.linspace(-1, 1, 15).reshape(5, 3)
with torch.autocast("cpu"):
    print("eager:   ", f(x))
    try:
        compiled = torch.compile(f, backend="eager")(x)
    except Exception as error:
        print("compiled:", error)
        raise SystemExit(1 if "bfloat16" in str(error) else 2) from None
print("compiled:", compiled)
raise SystemExit(not torch.allclose(compiled, f(x)))
