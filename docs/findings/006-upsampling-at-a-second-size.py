"""Sub-pixel upsampling fails to compile when it is called with a second size.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(x):
    n, c, h, w = x.shape
    large = x.view(n, c // 4, 2, 2, h, w).permute(0, 1, 4, 2, 5, 3).reshape(n, c // 4, h * 2, w * 2)
    mixed = large + large.mean(dim=1, keepdim=True)
    return torch.nn.functional.pixel_unshuffle(mixed, 2) - x


run = torch.compile(f)
for shape in ((2, 8, 5, 6), (1, 4, 3, 3)):
    x = torch.rand(shape)
    try:
        compiled = run(x)
    except Exception as error:
        print("compiled:", error)
        raise SystemExit(1 if "reduce() of empty iterable" in str(error) else 2) from None
    print("compiled:", "equal" if torch.allclose(compiled, f(x)) else "differs")
    if not torch.allclose(compiled, f(x)):
        raise SystemExit(1)
