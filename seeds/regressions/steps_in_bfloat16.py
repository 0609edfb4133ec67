"""Times of steps whose length was rounded to bfloat16 (docs/findings/029)."""

import torch


def program(start):
    steps = torch.full((4,), 0.1, dtype=torch.bfloat16)
    return start + steps.cumsum(0, dtype=torch.float32)


def inputs(rng):
    yield (rng.integers(0, 3, 1).to(torch.float32),)
