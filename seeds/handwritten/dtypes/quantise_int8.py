"""Integer quantisation with a zero point.

A known compiler defect is found from it: on a CPU, torch 2.13 compiles ``amin`` of 16 or more positive
int8 values to 0 (pytorch #191499).
"""

import torch


def program(x, weight):
    low = x.amin(dim=-1, keepdim=True)
    high = x.amax(dim=-1, keepdim=True)
    wide = x.to(torch.int32) - low.to(torch.int32)
    centred = wide * 2 - (high.to(torch.int32) - low)
    product = (centred * weight.to(torch.int32)).sum(dim=-1)
    return low, product, (x > low) & (x < high), torch.where(wide > 8, wide, -wide)


def inputs(rng):
    yield rng.integers(5, 100, 6, 64, dtype=torch.int8), rng.integers(-3, 4, 64, dtype=torch.int8)
