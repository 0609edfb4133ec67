"""Softmax of a tensor that was just written into is refused by Inductor.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(x):
    mask, places = torch.zeros(8, 8), torch.arange(8)
    mask[places[:, None], places] = 1
    return torch.softmax(x + mask, dim=-1)


args = (torch.ones(8, 8),)
print("eager:   ", f(*args).shape)
try:
    print("compiled:", torch.compile(f)(*args).shape)
except Exception as error:
    print("compiled:", type(error).__name__, str(error).partition("\n")[0])
    raise SystemExit(1 if "KeyError: 'buf" in str(error) else 2) from None
