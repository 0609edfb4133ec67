"""`channel_shuffle` of a channels-last image is contiguous.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(x):
    return torch.nn.functional.channel_shuffle(x, 2)


x = torch.ones(1, 4, 3, 3).to(memory_format=torch.channels_last)
eager, compiled = f(x), torch.compile(f)(x)
print("eager:   ", eager.stride())
print("compiled:", compiled.stride())
raise SystemExit(eager.stride() != compiled.stride())
