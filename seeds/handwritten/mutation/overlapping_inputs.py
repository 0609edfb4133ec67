"""Two arguments that are views of one buffer; the program writes to the first and reads the second."""

import torch


def program(front, back, scale):
    before = back * scale
    front.add_(1)
    after = back * scale
    gap = after - before
    back[0] = gap.sum()
    return gap, front.sum(dim=0) + back.amax(dim=0), torch.where(front > 0, front, -front)


def inputs(rng):
    buffer = rng.integers(-9, 10, 6, 8, dtype=torch.float32)
    yield buffer[:4], buffer[2:], 2.0
    other = rng.integers(-9, 10, 6, 8, dtype=torch.float32)
    yield other[:3], other[3:], 3.0
