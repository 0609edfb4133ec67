"""The smallest of 16 or more positive 8-bit integers is 0, and so is the largest of negative ones.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(measured, levels):
    complete = measured.to(torch.uint8).amin(dim=1).to(torch.bool)
    return complete, levels.amax(dim=1)


measured = torch.ones(3, 32, dtype=torch.bool)
levels = torch.arange(-70, 26, dtype=torch.int8).reshape(3, 32) - 30
eager, compiled = f(measured, levels), torch.compile(f)(measured, levels)
print("eager:   ", *eager)
print("compiled:", *compiled)
raise SystemExit(not all(map(torch.equal, compiled, eager)))
